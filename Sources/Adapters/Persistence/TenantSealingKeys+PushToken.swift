public import APNsPayload
public import Notifications

// Where push tokens are sealed to, for all who write or read `push_tokens`: a token that was copied to another row does
// not open there.

extension TenantSealingKeys {
    public func seal(
        _ token: PushToken, for instance: InstanceID, at place: TokenKind
    ) throws -> [UInt8] {
        try seal(token.bytes, at: Self.columns(instance, place))
    }

    /// Nil when the token cannot be opened: it was sealed by a secret that is not known any more, or was changed.
    public func openToken(
        _ sealed: [UInt8], for instance: InstanceID, at place: TokenKind
    ) -> PushToken? {
        open(sealed, at: Self.columns(instance, place)).flatMap { PushToken($0) }
    }

    /// The digests by which a token is found: one for each secret, newest first.
    public func digests(of token: PushToken) -> [[UInt8]] {
        digests(of: token.bytes)
    }

    private static func columns(_ instance: InstanceID, _ place: TokenKind) -> [String] {
        ["push_tokens", instance.description, place.kind, place.name]
    }
}
