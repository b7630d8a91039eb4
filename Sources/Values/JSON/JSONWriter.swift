/// JSON text written piece by piece.
///
/// For what is written often and always in the same form: literals with values between them. Keys are to be written in
/// the order of their bytes, as ``JSONValue/serialized()`` writes them.
///
/// An array finds out at every byte whether it shares its storage; this one owns it alone.
package struct JSONWriter: ~Copyable {
    private var storage: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    package init(capacity: Int = 512) {
        storage = .allocate(capacity: capacity)
    }

    deinit {
        storage.deallocate()
    }

    /// What has been written.
    package var bytes: [UInt8] {
        Array(storage[..<count])
    }

    mutating func write(_ byte: UInt8) {
        makeRoom(for: 1)
        storage[count] = byte
        count += 1
    }

    /// Writes what is JSON already.
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
