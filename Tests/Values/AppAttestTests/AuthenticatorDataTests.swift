import Testing

@testable import AppAttest

@Suite struct AuthenticatorDataTests {
    static let hash = [UInt8](repeating: 1, count: 32)
    static let head = hash + [0x40, 0, 0, 0, 5]
    static let coseKey: [UInt8] =
        [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + [UInt8](repeating: 2, count: 32)
        + [0x22, 0x58, 0x20] + [UInt8](repeating: 3, count: 32)
    static let credential =
        Array("appattestdevelop".utf8) + [0, 32] + [UInt8](repeating: 9, count: 32) + coseKey

    /// A map of extensions with one entry.
    static func extensions(_ name: String, _ value: [UInt8]) -> [UInt8] {
        [0xA1, 0x78, UInt8(name.utf8.count)] + Array(name.utf8) + value
    }

    @Test func attestationDataIsParsed() throws {
        let data = try AuthenticatorData(ofAttestation: Self.head + Self.credential)
        #expect(data.rpIDHash == Self.hash)
        #expect(data.counter == 5)
        #expect(data.credential?.aaguid == AttestationEnvironment.development.aaguid)
        #expect(data.credential?.id == [UInt8](repeating: 9, count: 32))
        #expect(
            data.credential?.publicKey
                == [4] + [UInt8](repeating: 2, count: 32) + [UInt8](repeating: 3, count: 32))
        #expect(data.category == nil)
    }

    @Test(arguments: UInt8.min...UInt8.max) func flagsAreIgnored(_ flags: UInt8) throws {
        var bytes = Self.head + Self.extensions("apple_bundle_version_01", [0x61, 0x37])
        bytes[32] = flags
        #expect(try AuthenticatorData(ofAssertion: bytes).bundleVersion == "7")
    }

    @Test(
        arguments: [
            ("apple_validation_category_01", [0x44, 4, 0, 0, 0]), ("apple_validation_category_01", [4]),
            ("apple_validation_category_01", [0x1A, 0, 0, 0, 4]), ("validationCategory", [4]),
        ] as [(String, [UInt8])])
    func validationCategoryIsParsedInEachEncoding(_ name: String, _ value: [UInt8]) throws {
        let data = try AuthenticatorData(ofAssertion: Self.head + Self.extensions(name, value))
        #expect(data.category == ValidationCategory.appStore.rawValue)
    }

    @Test func unknownExtensionNameIsIgnored() throws {
        let data = try AuthenticatorData(
            ofAssertion: Self.head + Self.extensions("apple_cd_hash_hash_01", [0x41, 1]))
        #expect(data.category == nil)
        #expect(data.bundleVersion == nil)
    }

    private static let known: [UInt8] = [0x6D] + Array("bundleVersion".utf8) + [0x61, 0x37]
    private static let deep = [UInt8](repeating: 0x81, count: 2_000) + [0]

    /// Entries that no device is known to send; a relying party ignores them (WebAuthn §9).
    private static let unknownEntries: [[UInt8]] = [
        [0x61, 0x78, 0xF5], [0x61, 0x78, 0xF6], [0x61, 0x78, 0xF7], [0x61, 0x78, 0xF8, 0xFF],
        [0x61, 0x78, 0xF9, 0, 0], [0x61, 0x78, 0xFB, 0, 0, 0, 0, 0, 0, 0, 0],
        [0x61, 0x78, 0xC1, 0xC1, 0], [0x61, 0x78, 0x1B] + [UInt8](repeating: 0xFF, count: 8),
        [0x61, 0x78, 0x61, 0xFF], [0x61, 0xFF, 0xF4], [0x01, 0x02], [0x41, 0x01, 0xF4], [0xF5, 0xF4],
        [0x61, 0x78, 0xA2, 0x80, 0x01, 0x80, 0xF6], [0x61, 0x78] + deep, deep + [0xF5],
        [0x61, 0x78, 0x98, 0x20] + [UInt8](repeating: 0xF6, count: 32),
    ]

    @Test(arguments: unknownEntries) func unknownExtensionIsSkipped(_ entry: [UInt8]) throws {
        for map in [[0xA2] + entry + Self.known, [0xA2] + Self.known + entry] {
            #expect(try AuthenticatorData(ofAssertion: Self.head + map).bundleVersion == "7")
            let attested = try AuthenticatorData(ofAttestation: Self.head + Self.credential + map)
            #expect(attested.bundleVersion == "7")
        }
    }

    @Test func manyUnknownExtensionsAreSkipped() throws {
        let entries = (0..<255 as Range<UInt8>).reduce(into: [UInt8]()) {
            $0 += [0x62, 0x61 + $1 / 26, 0x61 + $1 % 26, 0xF5]
        }
        let map = [0xB9, 1, 0] + entries + Self.known
        #expect(try AuthenticatorData(ofAssertion: Self.head + map).bundleVersion == "7")
    }

    /// The lengths are greater than the rest of the bytes. The reader must not trust them.
    @Test(
        arguments: [
            [0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x01],
            [0xA1, 0x01, 0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xA1, 0x01, 0xBB, 0x80, 0, 0, 0, 0, 0, 0, 0, 1], [0xA1, 0x01, 0x82, 0x9B],
            [0xA1, 0x01, 0x82, 0x9A, 0xFF, 0xFF, 0xFF, 0xFF, 0], [0xA1, 0x01, 0xC1],
            [0xA1, 0x01, 0x5A, 0xFF],
            [0xA1, 0x01],
        ] as [[UInt8]])
    func truncatedExtensionIsRejected(_ map: [UInt8]) {
        #expect(throws: AttestationRefusal.format(.truncated)) {
            try AuthenticatorData(ofAssertion: Self.head + map)
        }
    }

    @Test func malformedExtensionMapIsRejected() {
        let name: [UInt8] = [0x6D] + Array("bundleVersion".utf8)
        for (map, detail) in [
            ([0xA1] + name + [0xF6], .unsupportedType), ([0xA2] + Self.known + Self.known, .duplicateKey),
            ([0xA1, 0x01, 0x9F, 0x01, 0xFF], .indefiniteLength),
        ] as [([UInt8], AttestationRefusal.Format)] {
            #expect(throws: AttestationRefusal.format(detail)) {
                try AuthenticatorData(ofAssertion: Self.head + map)
            }
        }
    }

    static let wrong: [(bytes: [UInt8], isAttestation: Bool, detail: AttestationRefusal.Format)] = [
        ([], false, .authenticatorData), (Array(head.dropLast()), false, .authenticatorData),
        (Array(head.prefix(32)), false, .authenticatorData), (head + [0], false, .extensions),
        (head + [0x80], false, .extensions), (head + [0xA0, 0xA0], false, .trailingBytes),
        (head + [0xA1], false, .truncated), (head + [0xBF, 0xFF], false, .indefiniteLength),
        (head + extensions("apple_validation_category_01", [0x43, 4, 0, 0]), false, .extensions),
        (head + extensions("apple_validation_category_01", [0x45, 4, 0, 0, 0, 0]), false, .extensions),
        (head + extensions("apple_validation_category_01", [0x61, 0x34]), false, .extensions),
        (head + extensions("apple_validation_category_01", [0x20]), false, .extensions),
        (
            head + extensions("apple_validation_category_01", [0x1B, 0, 0, 0, 1, 0, 0, 0, 4]), false,
            .extensions
        ),
        (head + extensions("apple_bundle_version_01", [0x41, 0x31]), false, .extensions),
        (head + extensions("apple_bundle_version_01", [1]), false, .extensions),
        (head, true, .authenticatorData),
        (head + credential.prefix(49), true, .authenticatorData),
        (head + credential.prefix(50), true, .truncated),
        (head + credential + [0], true, .extensions), (head + credential + [0xA0, 0], true, .trailingBytes),
        (head + credential.dropLast(), true, .truncated),
        (head + changed(17, to: 31), true, .authenticatorData),
        (head + changed(16, to: 1), true, .authenticatorData),
        (head + changed(52, to: 1), true, .credentialKey),
        (head + changed(54, to: 0x27), true, .credentialKey),
        (head + changed(56, to: 2), true, .credentialKey),
        (head + changed(50, to: 0xA4), true, .credentialKey),
        (head + changed(50, to: 0x85), true, .credentialKey),
        (head + changed(55, to: 0x01), true, .duplicateKey),
    ]

    /// The credential with another byte.
    private static func changed(_ index: Int, to byte: UInt8) -> [UInt8] {
        var bytes = credential
        bytes[index] = byte
        return bytes
    }

    @Test(arguments: wrong.indices) func malformedDataIsRejected(_ index: Int) {
        let (bytes, isAttestation, detail) = Self.wrong[index]
        #expect(throws: AttestationRefusal.format(detail)) {
            isAttestation
                ? try AuthenticatorData(ofAttestation: bytes) : try AuthenticatorData(ofAssertion: bytes)
        }
    }
}
