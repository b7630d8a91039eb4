/// The data that the device signs: the app, the key's counter and, in an attestation, the key (WebAuthn
/// §6.1, as iOS 14 to 27 write it).
///
/// The flags are ignored. Assertions announce a credential that does not follow, and attestations do not
/// always announce extensions that follow [observed].
struct AuthenticatorData: Sendable, Hashable {
    /// The SHA-256 of the App ID, 32 bytes.
    let rpIDHash: [UInt8]
    let counter: UInt32
    /// Nil in an assertion.
    let credential: AttestedCredential?
    /// The stated category; nil before iOS 27.
    let category: UInt32?
    /// The build's `CFBundleVersion`; nil before iOS 27.
    let bundleVersion: String?

    /// Reads an attestation's data: a credential, then nothing or one map.
    init(ofAttestation bytes: [UInt8]) throws(AttestationRefusal) {
        try self.init(bytes, hasCredential: true)
    }

    /// Reads an assertion's data: nothing or one map after the counter.
    init(ofAssertion bytes: [UInt8]) throws(AttestationRefusal) {
        try self.init(bytes, hasCredential: false)
    }

    private init(_ bytes: [UInt8], hasCredential: Bool) throws(AttestationRefusal) {
        var rest = bytes[...]
        rpIDHash = Array(try rest.take(32))
        _ = try rest.take(1)
        counter = try rest.take(4).reduce(0) { $0 << 8 | UInt32($1) }
        credential = hasCredential ? try AttestedCredential(readingFrom: &rest) : nil
        guard !rest.isEmpty else {
            (category, bundleVersion) = (nil, nil)
            return
        }
        let extensions = try CBORReader.extensions(rest, named: Statement.names)
        category = try extensions.statement(.category).map(Self.category)
        bundleVersion = try extensions.statement(.bundleVersion).map(Self.bundleVersion)
    }

    /// Documented as an unsigned number of 32 bits; observed as four bytes, little endian. Both are
    /// accepted.
    private static func category(_ value: CBORValue) throws(AttestationRefusal) -> UInt32 {
        switch value {
        case .bytes(let bytes) where bytes.count == 4:
            return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        case .integer(let number):
            if let number = UInt32(exactly: number) { return number }
        default: break
        }
        throw .format(.extensions)
    }

    private static func bundleVersion(_ value: CBORValue) throws(AttestationRefusal) -> String {
        guard let text = value.text else { throw .format(.extensions) }
        return text
    }
}

/// The attested key, as the authenticator data contain it.
struct AttestedCredential: Sendable, Hashable {
    /// 16 bytes.
    let aaguid: [UInt8]
    /// 32 bytes.
    let id: [UInt8]
    /// Uncompressed as in SEC 1 §2.3.3, 65 bytes; not yet checked to be a point of P-256.
    let publicKey: [UInt8]

    fileprivate init(readingFrom bytes: inout ArraySlice<UInt8>) throws(AttestationRefusal) {
        aaguid = Array(try bytes.take(16))
        guard try bytes.take(2) == [0, 32] else { throw .format(.authenticatorData) }
        id = Array(try bytes.take(32))
        var reader = CBORReader(bytes)
        // EC2, ES256, P-256, x and y (RFC 9053 §2.1 and §7.1).
        guard let key = try reader.item().map, key.count == 5, key[1] == .integer(2),
            key[3] == .integer(-7), key[-1] == .integer(1), let x = key[-2]?.bytes, let y = key[-3]?.bytes,
            x.count == 32, y.count == 32
        else { throw .format(.credentialKey) }
        publicKey = [4] + x + y
        bytes = reader.rest
    }
}

/// The names of the statements of iOS 27 about a build.
private enum Statement: CaseIterable {
    case category, bundleVersion

    /// All names of all statements.
    static let names = Set(allCases.flatMap { [$0.observed, $0.documented] })

    /// Observed in attestations and assertions.
    var observed: String {
        switch self {
        case .category: "apple_validation_category_01"
        case .bundleVersion: "apple_bundle_version_01"
        }
    }

    /// Documented for assertions; not observed on any device.
    var documented: String {
        switch self {
        case .category: "validationCategory"
        case .bundleVersion: "bundleVersion"
        }
    }
}

extension [CBORKey: CBORValue] {
    /// Reads a statement by either of its names. If both are present, it is ambiguous which one is valid.
    fileprivate func statement(_ statement: Statement) throws(AttestationRefusal) -> CBORValue? {
        switch (self[.text(statement.observed)], self[.text(statement.documented)]) {
        case (let value?, nil), (nil, let value?): return value
        case (nil, nil): return nil
        case (_?, _?): throw .format(.extensions)
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func take(_ count: Int) throws(AttestationRefusal) -> ArraySlice<UInt8> {
        guard count <= self.count else { throw .format(.authenticatorData) }
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
