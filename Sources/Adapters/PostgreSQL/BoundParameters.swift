import CLibPQ

/// The values of a statement in the shape libpq takes them.
struct BoundParameters {
    let types: [UInt32]
    private let values: [[UInt8]?]
    private let lengths: [Int32]
    private let formats: [Int32]

    private static let binary: Int32 = 1

    /// The protocol counts them in 16 bits.
    private static let maximum = 65_535

    /// Throws errors of encoding a value, and an error if there are more values than the protocol allows.
    init(_ parameters: [Query.Parameter]) throws(PostgreSQLError) {
        guard parameters.count <= Self.maximum else {
            throw .encoding(reason: "a statement with more than \(Self.maximum) values")
        }
        var values: [[UInt8]?] = []
        for parameter in parameters { values.append(try parameter.bytes.get()) }
        self.values = values
        types = parameters.map(\.type.objectID)
        lengths = values.map { Int32($0?.count ?? 0) }
        formats = parameters.map { $0.type == .inferred ? 0 : Self.binary }
    }

    func sendQuery(_ connection: OpaquePointer, _ sql: String) -> Int32 {
        withPointers {
            PQsendQueryParams(
                connection, sql, Int32(values.count), types, $0, lengths, formats, Self.binary)
        }
    }

    func sendPrepare(_ connection: OpaquePointer, _ name: String, _ sql: String) -> Int32 {
        PQsendPrepare(connection, name, sql, Int32(types.count), types)
    }

    func sendPrepared(_ connection: OpaquePointer, _ name: String) -> Int32 {
        withPointers {
            PQsendQueryPrepared(
                connection, name, Int32(values.count), $0, lengths, formats, Self.binary)
        }
    }

    /// Calls the closure with pointers to the values in one buffer; NULL has no pointer.
    private func withPointers<R>(_ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(1) { $0 + ($1?.count ?? 0) })
        for case let value? in values { bytes.append(contentsOf: value) }
        // One byte more than needed: an empty value must have an address, or it would be NULL.
        bytes.append(0)
        return bytes.withUnsafeBytes { buffer in
            var offset = 0
            return body(
                values.map { value in
                    guard let value else { return nil }
                    defer { offset += value.count }
                    return (buffer.baseAddress?.advanced(by: offset)).map {
                        UnsafePointer($0.assumingMemoryBound(to: CChar.self))
                    }
                })
        }
    }
}
