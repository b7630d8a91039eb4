/// The reason why App Attest data is refused, with the exact defect.
///
/// For logs and metrics only: the client does not receive it. [ours]
public enum AttestationRefusal: Error, Sendable, Hashable {
    case format(Format)
    case chain(Chain)
    case nonce(Nonce)
    /// The hash of the certified key is not the key ID.
    case keyID
    /// The RP ID is not one of the App IDs.
    case appID
    case counter(Counter)
    case environment(Statement)
    case credential(Credential)
    case category(Statement)
    case bundleVersion(Statement)
    case signature(Signature)
    case challenge(Challenge)
    case token(Token)
    case key(Key)

    /// The steps of a verification, in their order, and the further checks.
    public enum Reason: String, Sendable, CaseIterable {
        case format, chain, nonce
        case keyID = "key_id"
        case signature
        case appID = "app_id"
        case counter, environment, credential, category
        case bundleVersion = "bundle_version"
        case challenge, token, key
    }

    /// The part that cannot be parsed.
    public enum Format: String, Sendable, CaseIterable {
        case tooLong = "too_long"
        case truncated
        case trailingBytes = "trailing_bytes"
        case indefiniteLength = "indefinite_length"
        /// A tag, a float, a simple value, or a length that RFC 8949 reserves.
        case unsupportedType = "unsupported_type"
        case tooDeep = "too_deep"
        case tooManyEntries = "too_many_entries"
        case duplicateKey = "duplicate_key"
        /// A key of a map that is neither text nor an integer.
        case keyType = "key_type"
        case invalidText = "invalid_text"
        /// An integer of more than 63 bits and a sign.
        case integerTooLarge = "integer_too_large"
        /// A member is missing, or of another type.
        case member
        /// An attestation of another format than Apple's.
        case fmt
        case certificate
        /// The leaf certifies no key on P-256.
        case leafKey = "leaf_key"
        /// The authenticator data has an invalid length.
        case authenticatorData = "authenticator_data"
        /// The key in the authenticator data is not a COSE key of P-256 for ES256.
        case credentialKey = "credential_key"
        case extensions
        /// The field `Doorstep-Assertion` is not a dictionary of the three byte sequences.
        case field
    }

    /// The defect of the certificates.
    public enum Chain: String, Sendable, CaseIterable {
        /// Not exactly the leaf and its intermediate.
        case wrongCount = "wrong_count"
        case swapped
        case notYetValid = "not_yet_valid"
        case expired
        case intermediateNotCA = "intermediate_not_ca"
        /// The intermediate did not sign the leaf.
        case badSignature = "bad_signature"
        /// The trusted root did not sign the intermediate.
        case otherRoot = "other_root"
        /// Another violation of RFC 5280, such as an unknown critical extension.
        case policy
    }

    public enum Nonce: String, Sendable, CaseIterable {
        case missing
        /// The extension does not have the 38 bytes of the known form.
        case encoding
        /// The nonce is for another challenge or other authenticator data.
        case other
    }

    public enum Counter: String, Sendable, CaseIterable {
        /// The attestation's counter is not zero.
        case notZero = "not_zero"
        /// The assertion's counter is not greater than the last one.
        case notGreater = "not_greater"
    }

    public enum Credential: String, Sendable, CaseIterable {
        case id
        case publicKey = "public_key"
    }

    /// The defect of a statement, such as the environment.
    public enum Statement: String, Sendable, CaseIterable {
        case missing
        /// A value that Apple does not document.
        case unknown
        case notAllowed = "not_allowed"
    }

    public enum Signature: String, Sendable, CaseIterable {
        case malformed
        case invalid
    }

    public enum Challenge: String, Sendable, CaseIterable {
        case malformed, forged, expired
        case otherPurpose = "other_purpose"
        case otherTenant = "other_tenant"
        case otherClip = "other_clip"
    }

    public enum Token: String, Sendable, CaseIterable {
        case malformed, forged, expired
        case otherTenant = "other_tenant"
        case otherApp = "other_app"
    }

    /// The conflict between a key and the stored data.
    public enum Key: String, Sendable, CaseIterable {
        case unknown
        /// The key was attested before, with other data.
        case taken
        /// The tenant has revoked it.
        case revoked
    }
}

extension AttestationRefusal {
    /// The step that failed.
    public var reason: Reason { said.reason }

    /// The exact defect; nil if the reason is exact. Stable across versions.
    public var detail: String? { said.detail }

    /// The reason's name, such as `key_id`. Stable across versions.
    public var code: String { reason.rawValue }

    private var said: (reason: Reason, detail: String?) {
        switch self {
        case .format(let detail): (.format, detail.rawValue)
        case .chain(let detail): (.chain, detail.rawValue)
        case .nonce(let detail): (.nonce, detail.rawValue)
        case .keyID: (.keyID, nil)
        case .appID: (.appID, nil)
        case .counter(let detail): (.counter, detail.rawValue)
        case .environment(let detail): (.environment, detail.rawValue)
        case .credential(let detail): (.credential, detail.rawValue)
        case .category(let detail): (.category, detail.rawValue)
        case .bundleVersion(let detail): (.bundleVersion, detail.rawValue)
        case .signature(let detail): (.signature, detail.rawValue)
        case .challenge(let detail): (.challenge, detail.rawValue)
        case .token(let detail): (.token, detail.rawValue)
        case .key(let detail): (.key, detail.rawValue)
        }
    }
}

extension AttestationRefusal: CustomStringConvertible {
    /// Reason and detail, such as `chain: expired`.
    public var description: String { detail.map { "\(code): \($0)" } ?? code }
}
