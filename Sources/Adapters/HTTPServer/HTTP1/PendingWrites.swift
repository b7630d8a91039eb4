import NIOCore

/// Parts of responses that are written, and that the client's side has not taken yet.
///
/// A connection that takes nothing of a response for a while is closed. To be used on the connection's event loop.
final class PendingWrites {
    private(set) var count = 0
    /// Called when a part no longer counts, until ``forget()``.
    var whenTaken: (() -> Void)?
    private let timeout: TimeAmount
    /// When a part was taken last, or written while none waited.
    private var lastProgress = NIODeadline.now()
    /// At most one, however many responses are written in its time.
    private var check: Scheduled<Void>?

    /// - Parameter timeout: how long nothing may be taken.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Counts a part until the promise is kept that is to be written with it.
    /// - Parameter promise: what its writer wants to be told by, if anything.
    func add(
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let eventLoop = context.eventLoop
        let promise = promise ?? eventLoop.makePromise()
        if count == 0 { lastProgress = eventLoop.now }
        count += 1
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.count -= 1
            self.lastProgress = eventLoop.now
            self.whenTaken?()
        }
        if check == nil { scheduleCheck(in: timeout, context) }
        return promise
    }

    private func scheduleCheck(in delay: TimeAmount, _ context: ChannelHandlerContext) {
        check = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.check = nil
            guard self.count > 0 else { return }
            let rest = self.lastProgress + self.timeout - context.eventLoop.now
            if rest > .zero { self.scheduleCheck(in: rest, context) } else { context.close(promise: nil) }
        }
    }

    func forget() {
        check?.cancel()
        check = nil
        whenTaken = nil
    }
}
