import NIOCore

/// The written parts of responses that have not left to the client yet.
///
/// If no part leaves for a while, the connection is closed. To be used on the connection's event loop.
final class PendingWrites {
    private(set) var count = 0
    /// Called when a part no longer counts, until ``forget()``.
    var whenTaken: (() -> Void)?
    private let timeout: TimeAmount
    /// When a part last left, or when a part was written while no other part waited.
    private var lastProgress = NIODeadline.now()
    /// At most one check is scheduled, for any number of responses.
    private var check: Scheduled<Void>?

    /// - Parameter timeout: the longest time in which no part leaves.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Counts a part until it has left.
    /// - Parameter promise: The writer's own promise, if it has one.
    /// - Returns: The promise to write the part with.
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
