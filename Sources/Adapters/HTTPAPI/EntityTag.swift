import Formats
import Lookups

/// The entity tag of a response's content (RFC 9110 §8.8.3). The same bytes have the same tag on every server. 64 bits are enough:
/// a tag protects no secret, so a collision is of no use to an attacker.
struct EntityTag {
    private let hash: UInt64
    private let isCompressed: Bool

    /// The longest tag in ASCII, including the quotation marks.
    static let maximumLength = 18 + compressedSuffix.utf8CodeUnitCount - 1

    private static let compressedSuffix: StaticString = "-gzip\""

    /// - Parameter isCompressed: Whether this is the tag of the compressed body, which is another representation.
    init(of body: [UInt8], isCompressed: Bool = false) {
        self.isCompressed = isCompressed
        var hash = ByteHash(seed: 0x646F_6F72_7374_6570)
        hash.combine(body.span)
        self.hash = hash.value
    }

    var text: String { String(unsafeUninitializedCapacity: Self.maximumLength, initializingUTF8With: write) }

    /// Writes the tag to the start of a buffer. Returns its length.
    func write(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        bytes[0] = UInt8(ascii: "\"")
        bytes.writeHexadecimal(hash, at: 1)
        guard isCompressed else {
            bytes[17] = UInt8(ascii: "\"")
            return 18
        }
        Self.compressedSuffix.withUTF8Buffer { suffix in
            for index in suffix.indices { bytes[17 + index] = suffix[index] }
        }
        return Self.maximumLength
    }

    /// The tag of the compressed representation of the resource with this tag.
    static func ofCompressed(_ tag: String) -> String { "\(tag.dropLast())\(compressedSuffix)" }
}

extension Span<UInt8> {
    /// Whether `If-None-Match` or `If-Match` names the tag of a state of a resource, compressed or not.
    func hasEntityTag(ofState tag: String, weakly: Bool = true) -> Bool {
        hasEntityTag(tag, weakly: weakly) || hasEntityTag(EntityTag.ofCompressed(tag), weakly: weakly)
    }
}
