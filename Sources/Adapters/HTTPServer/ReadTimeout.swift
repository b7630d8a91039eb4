import NIOCore

/// Reports that a connection has read nothing for a while. Repeats the report until something is read.
///
/// A read only stores its time. To be used on the connection's event loop.
final class ReadTimeout {
    private let timeout: TimeAmount
    private var now: (() -> TimeAmount?)?
    private var lastRead = NIODeadline.now()
    private var look: Scheduled<Void>?

    /// How often a variable timeout is checked during the usual timeout, because it can be as short as a tenth of it.
    private static let looks: Int64 = 10

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// The longest time until the next check.
    private var interval: TimeAmount { now == nil ? timeout : .nanoseconds(timeout.nanoseconds / Self.looks) }

    /// - Parameters:
    ///   - now: Returns the current timeout, never longer than the usual one; nil for the usual one.
    ///   - isReached: Called until ``end()``.
    func begin(
        on eventLoop: any EventLoop, now: (() -> TimeAmount?)? = nil, _ isReached: @escaping () -> Void
    ) {
        self.now = now
        hasRead(at: eventLoop.now)
        lookLater(interval, eventLoop, isReached)
    }

    func hasRead(at now: NIODeadline) { lastRead = now }

    func end() {
        look?.cancel()
        look = nil
        now = nil
    }

    private func lookLater(_ delay: TimeAmount, _ eventLoop: any EventLoop, _ isReached: @escaping () -> Void)
    {
        look = eventLoop.assumeIsolated().scheduleTask(in: delay) {
            let rest = self.lastRead + (self.now.flatMap { $0() } ?? self.timeout) - eventLoop.now
            if rest <= .zero { isReached() }
            // The closure may end it.
            guard self.look != nil else { return }
            self.lookLater(rest > .zero ? min(rest, self.interval) : self.interval, eventLoop, isReached)
        }
    }
}
