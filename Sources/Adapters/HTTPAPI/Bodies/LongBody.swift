import Administration

/// A long body, in pieces.
enum LongBody: AsyncSequence, Sendable {
    /// A body that was received over HTTP. It can be read more than once.
    case spooled(SpooledBody)
    /// A body from a caller in this process, which is produced while the handler reads it. It can be read once.
    case chunks(FileChunks)

    func makeAsyncIterator() -> Iterator {
        switch self {
        case .spooled(let body): .spooled(body.makeAsyncIterator())
        case .chunks(let chunks): .chunks(chunks.makeAsyncIterator())
        }
    }

    enum Iterator: AsyncIteratorProtocol {
        case spooled(SpooledBody.Iterator)
        case chunks(FileChunks.Iterator)

        mutating func next() async throws -> [UInt8]? {
            switch self {
            case .spooled(var iterator):
                defer { self = .spooled(iterator) }
                return try await iterator.next()
            case .chunks(var iterator):
                defer { self = .chunks(iterator) }
                return try await iterator.next()
            }
        }
    }
}
