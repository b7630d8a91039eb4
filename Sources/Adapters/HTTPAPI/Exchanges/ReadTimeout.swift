import NIOCore

/// Tells that a connection has read nothing for a while, again and again until something is read.
///
/// What is read leaves its time, and costs no more. To be used on the connection's event loop.
final class ReadTimeout {
    private let timeout: TimeAmount
    private let now: (@Sendable () -> TimeAmount)?
    private var lastRead = NIODeadline.now()
    private var look: Scheduled<Void>?

    /// How often a timeout that changes is looked at, in parts of the usual one: it can become a tenth.
    private static let looks: Int64 = 10

    /// - Parameter now: The timeout at the moment, never longer than the usual one; nil if it does not change.
    init(_ timeout: TimeAmount, now: (@Sendable () -> TimeAmount)? = nil) {
        self.timeout = timeout
        self.now = now
    }

    /// The longest time until the next look.
    private var interval: TimeAmount { now == nil ? timeout : .nanoseconds(timeout.nanoseconds / Self.looks) }

    /// - Parameter isReached: Called until ``end()``.
    func begin(on eventLoop: any EventLoop, _ isReached: @escaping () -> Void) {
        hasRead(at: eventLoop.now)
        lookLater(interval, eventLoop, isReached)
    }

    func hasRead(at now: NIODeadline) { lastRead = now }

    func end() {
        look?.cancel()
        look = nil
    }

    private func lookLater(_ delay: TimeAmount, _ eventLoop: any EventLoop, _ isReached: @escaping () -> Void)
    {
        look = eventLoop.assumeIsolated().scheduleTask(in: delay) {
            let rest = self.lastRead + (self.now?() ?? self.timeout) - eventLoop.now
            if rest <= .zero { isReached() }
            // Whoever is told may end it.
            guard self.look != nil else { return }
            self.lookLater(rest > .zero ? min(rest, self.interval) : self.interval, eventLoop, isReached)
        }
    }
}
