public import APNsPayload
public import Notifications

// The position for the encryption of push tokens, for all code that writes or reads `push_tokens`. A token that was copied to another
// row cannot be decrypted there.

extension TenantSealingKeys {
    public func seal(
        _ token: PushToken, for instance: InstanceID, at place: TokenKind
    ) throws -> [UInt8] {
        try seal(token.bytes, at: Self.columns(instance, place))
    }

    /// Nil if the token cannot be decrypted: it was changed, or its secret is no longer known.
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
