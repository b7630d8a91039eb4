import NIOCore
import Synchronization

/// A request that a task responds to, and how its response gets to the connection's event loop.
struct Exchange: Sendable {
    let loop: any EventLoop
    /// Writes a response, or the head of one that is streamed.
    let begin: @Sendable (ServerResponse) -> Void
    let write: @Sendable (ByteBuffer, EventLoopPromise<Void>) -> Void
    /// Ends a streamed response; false if the rest of it cannot be had.
    let end: @Sendable (_ isComplete: Bool) -> Void

    /// Starts the task. It runs to its end also if the client no longer waits for the response: a cancelled change has an unknown
    /// result, and a cancelled statement costs a connection to the database. The body ends with the connection, and a streamed
    /// response cannot be written any more.
    func run(
        _ responder: any ServerResponder, _ request: ServerRequest, _ body: ServerRequestBody,
        counting tasks: RunningTasks
    ) {
        tasks.begin()
        Task {
            defer { tasks.end() }
            let response = await responder.respond(to: request, body: body)
            loop.execute { begin(response) }
            guard let (length, stream) = response.streamedBody(for: request.method) else { return }
            let sent = Atomic(0)
            do {
                try await stream(
                    BodyWriter { piece in
                        let total = sent.wrappingAdd(piece.readableBytes, ordering: .relaxed).newValue
                        // The client would take the excess for the next response.
                        if let length, total > length { throw WrongLength() }
                        let promise = loop.makePromise(of: Void.self)
                        loop.execute { write(piece, promise) }
                        try await promise.futureResult.get()
                    })
                let isComplete = length.map { $0 == sent.load(ordering: .relaxed) } ?? true
                loop.execute { end(isComplete) }
            } catch {
                loop.execute { end(false) }
            }
        }
    }
}

/// The number of tasks that respond to requests of a server.
final class RunningTasks: Sendable {
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func begin() { count.wrappingAdd(1, ordering: .relaxed) }
    func end() { count.wrappingSubtract(1, ordering: .releasing) }
}

/// A streamed body that is longer than its response announced.
private struct WrongLength: Error {}
