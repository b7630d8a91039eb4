import Lookups

/// What tells an answer's content from another (RFC 9110 §8.8.3): the same for the same bytes on every server; 64 bits tell
/// answers apart that nobody makes alike on purpose.
struct EntityTag {
    private let hash: UInt64

    /// In ASCII, with its quotation marks.
    static let length = 18

    init(of body: [UInt8]) {
        var hash = ByteHash(seed: 0x646F_6F72_7374_6570)
        hash.combine(body.span)
        self.hash = hash.value
    }

    var text: String { String(unsafeUninitializedCapacity: Self.length, initializingUTF8With: write) }

    /// Writes it to the beginning of what has room for it; tells how long it is.
    func write(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        bytes[0] = UInt8(ascii: "\"")
        bytes.writeHexadecimal(hash, at: 1)
        bytes[17] = UInt8(ascii: "\"")
        return Self.length
    }
}
