/// The App Attest service that knows the key, from the build's App Attest entitlement.
public enum AttestationEnvironment: String, Sendable, CaseIterable {
    case development
    case production

    /// The authenticator's identifier for the environment, 16 bytes.
    ///
    /// Documented: Apple, "Attestation Object Validation Guide".
    public var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + Array(repeating: 0, count: 7)
        }
    }

    init?(aaguid: some Sequence<UInt8>) {
        guard let environment = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else {
            return nil
        }
        self = environment
    }
}
