import NIOCore

/// Tells that a connection has read nothing for a while, again and again until something is read.
///
/// What is read leaves its time, and costs no more. To be used on the connection's event loop.
final class ReadTimeout {
    private let timeout: TimeAmount
    private var lastRead = NIODeadline.now()
    private var look: Scheduled<Void>?

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// - Parameter isReached: Called until ``end()``.
    func begin(on eventLoop: any EventLoop, _ isReached: @escaping () -> Void) {
        hasRead(at: eventLoop.now)
        lookLater(timeout, eventLoop, isReached)
    }

    func hasRead(at now: NIODeadline) { lastRead = now }

    func end() {
        look?.cancel()
        look = nil
    }

    private func lookLater(_ delay: TimeAmount, _ eventLoop: any EventLoop, _ isReached: @escaping () -> Void)
    {
        look = eventLoop.assumeIsolated().scheduleTask(in: delay) {
            let rest = self.lastRead + self.timeout - eventLoop.now
            if rest <= .zero { isReached() }
            // Whoever is told may end it.
            guard self.look != nil else { return }
            self.lookLater(rest > .zero ? rest : self.timeout, eventLoop, isReached)
        }
    }
}
