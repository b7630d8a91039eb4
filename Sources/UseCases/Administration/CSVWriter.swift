/// Writes comma-separated values as RFC 4180 defines them: what `CSVParser` reads of it is what was given.
public struct CSVWriter {
    /// Takes the file's next bytes.
    public typealias Sink = ([UInt8]) throws -> Void

    private let sink: Sink
    private var buffer: [UInt8] = []

    private static let chunkLength = 1 << 16

    public init(_ sink: @escaping Sink) {
        self.sink = sink
    }

    public mutating func append(_ fields: some Sequence<String>) throws {
        var isFirst = true
        for field in fields {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            append(field)
        }
        buffer += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        if buffer.count >= Self.chunkLength { try finish() }
    }

    /// Hands over what is still kept back.
    public mutating func finish() throws {
        try sink(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ field: String) {
        let needsQuotes = field.utf8.contains { byte in
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
            default: false
            }
        }
        guard needsQuotes else { return buffer.append(contentsOf: field.utf8) }
        buffer.append(UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { buffer.append(byte) }
            buffer.append(byte)
        }
        buffer.append(UInt8(ascii: "\""))
    }
}
