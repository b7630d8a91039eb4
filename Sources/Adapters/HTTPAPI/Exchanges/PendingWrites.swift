import NIOCore

/// The parts of answers that are written and not yet taken by the client's side.
///
/// A connection, or a stream of HTTP/2, that takes nothing of an answer for a while is closed, and what waited for it is let
/// go. To be used on the connection's event loop.
final class PendingWrites {
    private(set) var count = 0
    /// Called when a part no longer counts, until ``forget()``.
    var whenTaken: (() -> Void)?
    private let timeout: TimeAmount
    /// When a part was taken last, or written while none waited.
    private var lastProgress = NIODeadline.now()
    /// There is at most one, however many answers there are in its time.
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
