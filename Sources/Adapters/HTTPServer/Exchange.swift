import NIOCore

/// A request that a task responds to, and how its response gets to the connection's event loop.
struct Exchange: Sendable {
    let loop: any EventLoop
    /// Writes a response, or the head of one that is streamed.
    let begin: @Sendable (ServerResponse) -> Void
    let write: @Sendable (ByteBuffer, EventLoopPromise<Void>) -> Void
    /// Ends a streamed response; false if the rest of it cannot be had.
    let end: @Sendable (_ isComplete: Bool) -> Void

    func run(_ responder: any ServerResponder, _ request: ServerRequest, _ body: ServerRequestBody) {
        Task {
            let response = await responder.respond(to: request, body: body)
            loop.execute { begin(response) }
            guard case .stream(_, let stream) = response.body, request.method != "HEAD" else { return }
            do {
                try await stream(
                    BodyWriter { piece in
                        let promise = loop.makePromise(of: Void.self)
                        loop.execute { write(piece, promise) }
                        try await promise.futureResult.get()
                    })
                loop.execute { end(true) }
            } catch {
                loop.execute { end(false) }
            }
        }
    }
}
