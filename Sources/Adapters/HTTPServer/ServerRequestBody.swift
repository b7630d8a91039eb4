package import NIOCore

/// The body of a request while it arrives: pieces that can be read once. While no task reads them, the client waits.
///
/// Throws if the connection or stream ends before the body.
package struct ServerRequestBody: AsyncSequence, Sendable {
    typealias Producer = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Delegate
    >

    fileprivate enum Source: Sendable {
        case whole(ByteBuffer)
        /// Calls `want` before the first piece is awaited.
        case arriving(Producer, want: @Sendable () -> Void)
    }

    fileprivate let source: Source

    fileprivate init(_ source: Source) {
        self.source = source
    }

    /// A body that has arrived.
    package init(_ bytes: ByteBuffer = ByteBuffer()) {
        source = .whole(bytes)
    }

    package func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let bytes): Iterator(whole: bytes.readableBytes > 0 ? bytes : nil)
        case .arriving(let producer, let want):
            {
                want()
                return Iterator(arriving: producer.makeAsyncIterator())
            }()
        }
    }

    /// The whole body.
    /// - Throws: ``TooLong`` if the body has more than `maximum` bytes.
    package func bytes(upTo maximum: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in self {
            guard bytes.count + piece.readableBytes <= maximum else { throw TooLong() }
            bytes += piece.readableBytesView
        }
        return bytes
    }

    package struct TooLong: Error {}

    package struct Iterator: AsyncIteratorProtocol {
        private var whole: ByteBuffer?
        private let arriving: Producer.AsyncIterator?

        fileprivate init(whole: ByteBuffer?) {
            self.whole = whole
            arriving = nil
        }

        fileprivate init(arriving: Producer.AsyncIterator) {
            self.arriving = arriving
        }

        package mutating func next() async throws -> ByteBuffer? {
            if let arriving { return try await arriving.next() }
            defer { whole = nil }
            return whole
        }
    }

    final class Delegate: NIOAsyncSequenceProducerDelegate {
        private let resume: @Sendable () -> Void

        init(_ resume: @escaping @Sendable () -> Void) {
            self.resume = resume
        }

        func produceMore() { resume() }
        func didTerminate() { resume() }
    }
}

/// Takes the pieces of a body from the connection. To be used on the connection's event loop.
final class BodySource {
    private let source: ServerRequestBody.Producer.Source
    let body: ServerRequestBody
    /// Whether too many pieces wait for the reader, so that the connection must stop reading.
    private(set) var isFull = false

    /// The number of pieces that may wait for the reader. [ours]
    private static let strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
        lowWatermark: 2, highWatermark: 8)

    /// - Parameters:
    ///   - want: Called when the body is to be read, on any thread.
    ///   - resume: Called when the reader has caught up, on any thread.
    init(want: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        let new = ServerRequestBody.Producer.makeSequence(
            backPressureStrategy: Self.strategy, finishOnDeinit: true,
            delegate: ServerRequestBody.Delegate(resume))
        source = new.source
        body = ServerRequestBody(.arriving(new.sequence, want: want))
    }

    func add(_ piece: ByteBuffer) { isFull = source.yield(piece) == .stopProducing }
    func resumed() { isFull = false }
    func finish() { source.finish() }
    func fail(_ error: any Error) { source.finish(error) }
}
