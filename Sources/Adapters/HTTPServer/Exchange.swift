import NIOCore
import Synchronization

/// A request that a task responds to, with the functions that pass the response to the connection's event loop.
struct Exchange: Sendable {
    let loop: any EventLoop
    /// Writes a response, or the head of a streamed response.
    let begin: @Sendable (ServerResponse) -> Void
    let write: @Sendable (ByteBuffer, EventLoopPromise<Void>) -> Void
    /// Ends a streamed response. `isComplete` is false if the rest of the body cannot be read.
    let end: @Sendable (_ isComplete: Bool) -> Void

    /// Starts the task. It runs to its end even if the client no longer waits for the response: a cancelled change has an unknown
    /// result, and a cancelled statement costs a connection to the database. When the connection ends, the request's body ends, and
    /// a streamed response can no longer be written.
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
            // A writer waits for the client, so it cannot end itself. To cut the response ends its wait.
            let limit = response.timeLimit.map { limit in
                loop.scheduleTask(in: TimeAmount(limit)) { end(false) }
            }
            defer { limit?.cancel() }
            let sent = Atomic(0)
            do {
                try await stream(
                    BodyWriter { piece in
                        let total = sent.wrappingAdd(piece.readableBytes, ordering: .relaxed).newValue
                        // The client would read the additional bytes as the next response.
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
