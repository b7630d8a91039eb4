import Synchronization

/// Writes the rows of a `COPY … FROM STDIN`.
public final class CopyWriter: Sendable {
    private let lease: Lease
    private let buffer = Mutex<[UInt8]>([])

    private static let chunk = 65_536

    init(lease: Lease) {
        self.lease = lease
    }

    /// Sends bytes in the format the statement names.
    public func write(_ bytes: [UInt8]) async throws(PostgreSQLError) {
        try await append { $0 += bytes }
    }

    /// Sends one row in the `text` format, COPY's default; `nil` is NULL.
    ///
    /// Each field is written as its column's type is written in SQL text; escaping is done here.
    public func writeRow(_ fields: [String?]) async throws(PostgreSQLError) {
        guard !fields.contains(where: { $0?.utf8.contains(0) == true }) else {
            throw .encoding(reason: "text with a zero byte")
        }
        try await append { Self.appendRow(fields, to: &$0) }
    }

    func flush() async throws(PostgreSQLError) {
        let bytes = buffer.withLock { buffer in
            defer { buffer = [] }
            return buffer
        }
        guard !bytes.isEmpty else { return }
        try await lease.perform { session, limits throws(PostgreSQLError) in try session.copy(bytes, limits) }
    }

    private func append(_ change: (inout [UInt8]) -> Void) async throws(PostgreSQLError) {
        let isFull = buffer.withLock { buffer in
            change(&buffer)
            return buffer.count >= Self.chunk
        }
        if isFull { try await flush() }
    }

    /// PostgreSQL, COPY, "Text Format": fields apart by tabs, `\N` for NULL, four characters escaped.
    static func appendRow(_ fields: [String?], to bytes: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "\t")) }
            guard let field else {
                bytes += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
                continue
            }
            for byte in field.utf8 {
                switch byte {
                case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\t"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
                case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
                case UInt8(ascii: "\r"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
