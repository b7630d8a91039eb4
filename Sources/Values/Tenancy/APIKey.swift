import Formats

/// An API key in clear: `dpk_` or `dsk_`, `test_` if its tenant is a test tenant, 43 characters of base 62 that
/// encode 256 random bits, and 6 that encode the CRC-32 of all before them.
///
/// The checksum rejects a mistyped or truncated key without a database query, and lets a secret scanner
/// recognize keys. The `description` shows only ``hint``; ``text`` is the only way to the secret.
public struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let kind: KeyKind
    /// Whether the key belongs to a test tenant.
    public let isTest: Bool
    /// The whole key. Show it only when it is created; only its SHA-256 is ever stored.
    public let text: String

    /// Parses a key.
    ///
    /// - Throws: `TenancyError.invalidKey` if prefix, length, alphabet or checksum is wrong.
    public init(_ text: String) throws(TenancyError) {
        let bytes = Array(text.utf8)
        guard
            let (kind, isTest) = Self.forms.first(where: { bytes.starts(with: $0.prefix(isTest: $1).utf8) }),
            case let rest = bytes.dropFirst(kind.prefix(isTest: isTest).utf8.count),
            rest.count == Self.secretLength + Self.checksumLength,
            rest.allSatisfy(Base62.alphabet.contains),
            bytes.suffix(Self.checksumLength).elementsEqual(
                Self.checksum(of: bytes.dropLast(Self.checksumLength)))
        else { throw .invalidKey }
        self.kind = kind
        self.isTest = isTest
        self.text = text
    }

    /// Creates a key for a tenant: of a kind, and for a test tenant or not.
    public typealias Generator = @Sendable (KeyKind, _ isTest: Bool) -> APIKey

    /// Creates a key from 256 bits of `SystemRandomNumberGenerator`.
    ///
    /// Source: its documentation in the Swift standard library: on Linux it reads `getrandom(2)`, else
    /// `/dev/urandom`.
    public static func generate(_ kind: KeyKind, isTest: Bool = false) -> APIKey {
        APIKey(kind, isTest: isTest, words: (0..<8).map { _ in .random(in: .min ... .max) })
    }

    /// - Precondition: The words are eight, the secret's 256 bits.
    init(_ kind: KeyKind, isTest: Bool = false, words: [UInt32]) {
        precondition(words.count == 8)
        let body =
            Array(kind.prefix(isTest: isTest).utf8) + Base62.digits(of: words, count: Self.secretLength)
        self.kind = kind
        self.isTest = isTest
        text = String(decoding: body + Self.checksum(of: body[...]), as: UTF8.self)
    }

    /// The prefix and the first four characters of the secret, so that keys in a list can be distinguished.
    public var hint: String { String(text.prefix(kind.prefix(isTest: isTest).count + 4)) }

    public var description: String { hint + "…" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["hint": hint]) }

    /// The kinds of keys. Those of test tenants come first, because their prefixes begin with the other prefixes.
    private static let forms = [true, false].flatMap { isTest in KeyKind.allCases.map { ($0, isTest) } }
    private static let secretLength = 43
    private static let checksumLength = 6
    /// The lengths of keys in bytes.
    public static let lengths = forms.map { $0.prefix(isTest: $1).utf8.count + secretLength + checksumLength }

    private static func checksum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        Base62.digits(of: [CRC32.checksum(bytes)], count: checksumLength)
    }
}
