import HTTPServer
import NIOCore
import Synchronization

/// A long body while it arrives, as pieces that can be read once. A slow reader slows the client down.
///
/// Throws a problem: `body_too_large`, `request_timeout` or, if the connection ends before the body, `malformed_request`.
struct Upload: AsyncSequence, Sendable {
    fileprivate let body: ServerRequestBody
    fileprivate let coding: ContentCoding
    fileprivate let progress: Progress

    /// The most bytes of a body. [ours]
    static let maximumLength = 1 << 30
    /// The bytes that a coded body may have beyond the limit of its content, because gzip makes incompressible content slightly
    /// longer. Without a limit, a body of empty blocks would never end. [ours]
    static let maximumCodingOverhead = 1 << 20
    /// The most bytes of a row. [ours]
    static let maximumRowLength = 65_536
    /// The most rows of a body. [ours]
    static let maximumRows = 1_000_000
    /// The most concurrent uploads of a server, each of another tenant. Each occupies a file. [ours]
    static let maximumAtOnce = 8
    /// The longest time in which the whole body may arrive. [ours]
    static let timeout = Duration.seconds(900)
    /// The time that a client may take before it must keep the least rate, for example to begin. [ours]
    static let startTime = Duration.seconds(30)
    /// The least rate of a client, in bytes per second while the server waits for it. A slower upload would take the place of those
    /// of other tenants. [ours]
    static let leastRate = 8_192

    func makeAsyncIterator() -> Iterator {
        Iterator(body: body.makeAsyncIterator(), coding: coding, progress: progress)
    }

    struct Iterator: AsyncIteratorProtocol {
        private var body: ServerRequestBody.AsyncIterator
        private let coding: ContentCoding
        private let progress: Progress
        private var decoder: GzipDecoder?

        fileprivate init(body: ServerRequestBody.AsyncIterator, coding: ContentCoding, progress: Progress) {
            self.body = body
            self.coding = coding
            self.progress = progress
        }

        /// The next piece of the decoded content; nil at the end. Both decoded and encoded bytes are limited.
        mutating func next() async throws -> [UInt8]? {
            guard coding == .gzip else { return try await receive() }
            let decoder = try self.decoder ?? GzipDecoder()
            self.decoder = decoder
            while true {
                if let piece = try decoder.next() {
                    guard try progress.takes(piece.count) else { throw Problem.bodyTooSlow }
                    return piece
                }
                guard let part = try await receive(isEncoded: true) else {
                    try decoder.finish()
                    return nil
                }
                decoder.add(part)
            }
        }

        private mutating func receive(isEncoded: Bool = false) async throws -> [UInt8]? {
            progress.waits()
            let part: ByteBuffer?
            do {
                part = try await body.next()
            } catch {
                throw progress.isOverdue ? Problem.bodyTooSlow : Problem.bodyCutOff
            }
            let length = part?.readableBytes
            progress.received(length ?? 0)
            // A cancelled upload is too slow, even if its last piece has arrived.
            guard !Task.isCancelled, try progress.takes(length, isEncoded: isEncoded) else {
                throw Problem.bodyTooSlow
            }
            return part.map { Array($0.readableBytesView) }
        }
    }

    /// The received length of the body, and the time since which the server waits for the client.
    final class Progress: Sendable {
        private struct State {
            var length = 0
            var encodedLength = 0
            /// The bytes as they were sent, coded or not.
            var receivedLength = 0
            /// Nil while the server works on a received piece.
            var waitsSince: ContinuousClock.Instant?
            /// The time for which the server has waited for the client, up to the last piece.
            var waited = Duration.zero
            var isOverdue = false
            var isOver = false
        }

        private let state = Mutex(State())
        private let start: ContinuousClock.Instant
        private let type: BodyType

        /// - Parameter type: The body's type, which limits its length.
        init(of type: BodyType = .csv, start: ContinuousClock.Instant = .now) {
            self.type = type
            self.start = start
        }

        var isOverdue: Bool { state.withLock(\.isOverdue) }

        func waits(at now: ContinuousClock.Instant = .now) {
            state.withLock { $0.waitsSince = now }
        }

        /// Ends a wait for the client.
        /// - Parameter length: The length of the received piece in bytes.
        func received(_ length: Int, at now: ContinuousClock.Instant = .now) {
            state.withLock { state in
                if let start = state.waitsSince { state.waited += start.duration(to: now) }
                state.waitsSince = nil
                state.receivedLength += length
            }
        }

        /// - Parameters:
        ///   - length: The length of the next piece in bytes; nil at the end.
        ///   - isEncoded: Whether the piece is yet to be decoded, so that only the limit of encoded bytes applies.
        /// - Returns: False if the piece came too late.
        /// - Throws: `body_too_large`.
        func takes(_ length: Int?, isEncoded: Bool = false) throws(Problem) -> Bool {
            let (isTooLarge, isOverdue) = state.withLock { state in
                state.waitsSince = nil
                if isEncoded { state.encodedLength += length ?? 0 } else { state.length += length ?? 0 }
                state.isOver = length == nil
                let isTooLarge =
                    state.length > type.maximumLength
                    || state.encodedLength > type.maximumLength + Upload.maximumCodingOverhead
                return (isTooLarge, state.isOverdue)
            }
            guard !isTooLarge else { throw .bodyTooLarge(type) }
            return !isOverdue
        }

        /// The time within which the next piece must arrive; zero or less if it is late. Silence, a rate below
        /// ``Upload/leastRate`` and a long upload make it late.
        func rest(within limit: Duration, at now: ContinuousClock.Instant = .now) -> Duration {
            state.withLock { state in
                guard !state.isOver else { return Upload.timeout }
                let waiting = state.waitsSince.map { $0.duration(to: now) } ?? .zero
                let allowed = Upload.startTime + .seconds(state.receivedLength / Upload.leastRate)
                let rest = Swift.min(
                    limit - waiting, allowed - state.waited - waiting,
                    Upload.timeout - start.duration(to: now))
                state.isOverdue = rest <= .zero
                return rest
            }
        }

        /// Returns when the body is late. Never returns after the whole body has arrived.
        func watch(_ limit: Duration) async throws {
            while !isOverdue {
                try await Task.sleep(for: Swift.max(rest(within: limit), .milliseconds(10)))
            }
        }
    }
}

extension ServerRequestBody {
    /// Passes the body to a closure while it arrives.
    /// - Parameters:
    ///   - coding: `Content-Encoding`; nil if there is none.
    ///   - limit: The longest time between two pieces.
    func withUpload<Result: Sendable>(
        of type: BodyType = .csv, coding: String? = nil, within limit: Duration,
        _ body: @escaping @Sendable (Upload) async throws -> Result
    ) async throws -> Result {
        let upload = Upload(
            body: self, coding: try ContentCoding(coding), progress: Upload.Progress(of: type))
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body(upload) }
            group.addTask {
                try await upload.progress.watch(limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else { throw Problem.bodyTooSlow }
            return result
        }
    }
}
