/// A writer of JSON text, piece by piece.
///
/// For text of a constant form that is written often: literals with values between them. Write keys in the
/// order of their bytes, as ``JSONValue/serialized()`` does.
///
/// An array checks at every byte whether it shares its storage; this type owns its storage alone.
package struct JSONWriter: ~Copyable {
    private var storage: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    package init(capacity: Int = 512) {
        storage = .allocate(capacity: capacity)
    }

    deinit {
        storage.deallocate()
    }

    /// The written bytes.
    package var bytes: [UInt8] {
        Array(storage[..<count])
    }

    mutating func write(_ byte: UInt8) {
        makeRoom(for: 1)
        storage[count] = byte
        count += 1
    }

    /// Writes bytes that are already JSON.
    package mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        _ = UnsafeMutableBufferPointer(rebasing: storage[count...]).update(fromContentsOf: bytes)
        count += bytes.count
    }

    package mutating func write(literal text: StaticString) {
        text.withUTF8Buffer { write($0) }
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if storage.count - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * storage.count + more)
        _ = larger.update(fromContentsOf: storage[..<count])
        storage.deallocate()
        storage = larger
    }
}
