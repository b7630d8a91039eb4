import Lookups

/// The entity tag of a response's content (RFC 9110 §8.8.3). The same bytes have the same tag on every server. 64 bits suffice for
/// content that is not made to collide.
struct EntityTag {
    private let hash: UInt64

    /// The length of the tag in ASCII, including the quotation marks.
    static let length = 18

    init(of body: [UInt8]) {
        var hash = ByteHash(seed: 0x646F_6F72_7374_6570)
        hash.combine(body.span)
        self.hash = hash.value
    }

    var text: String { String(unsafeUninitializedCapacity: Self.length, initializingUTF8With: write) }

    /// Writes the tag to the start of a buffer. Returns its length.
    func write(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        bytes[0] = UInt8(ascii: "\"")
        bytes.writeHexadecimal(hash, at: 1)
        bytes[17] = UInt8(ascii: "\"")
        return Self.length
    }
}
