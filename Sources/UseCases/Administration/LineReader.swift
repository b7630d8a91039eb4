/// Splits a file into lines that end in LF. Memory is bounded by one line.
struct LineReader: Sendable {
    private let source: @Sendable () throws -> [UInt8]?
    private var buffer: [UInt8] = []
    private var position = 0
    /// The number of the last line that was read, from 1.
    private(set) var number = 0

    /// Enough for an image in Base64.
    static let maximumLineLength = 1 << 24

    init(_ source: @escaping @Sendable () throws -> [UInt8]?) {
        self.source = source
    }

    /// The next line without its line feed; nil after the last line.
    mutating func next() throws -> ArraySlice<UInt8>? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                number += 1
                return buffer[position..<end]
            }
            guard buffer.count - position <= Self.maximumLineLength else {
                throw AdministrationError.invalidArchive(
                    line: number + 1, reason: "longer than \(Self.maximumLineLength) bytes")
            }
            buffer.removeSubrange(..<position)
            position = 0
            searched = buffer.count
            guard let chunk = try source() else {
                guard !buffer.isEmpty else { return nil }
                number += 1
                position = buffer.count
                return buffer[...]
            }
            buffer += chunk
        }
    }
}
