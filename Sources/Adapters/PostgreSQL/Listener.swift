import Foundation
import Synchronization

/// The notifications of some channels, over a separate connection that is opened again after it breaks.
///
/// Notifications that are sent without a connection are lost. So read the data after each `.listening`, and again at each
/// notification. PgBouncer in transaction mode does not support LISTEN: use the server's own address.
///
/// It has one reader. It ends with its connection when the reading task is cancelled or the last reference is released.
public final class Listener: AsyncSequence, Sendable {
    public enum Event: Sendable, Hashable {
        /// From here on notifications arrive; those before may have been missed.
        case listening
        case notification(Notification)
        /// There is no connection; the pause before the next attempt grows to ten seconds.
        case interrupted(PostgreSQLError)
    }

    private let mailbox: Mailbox

    /// Uses the connection string, the connect timeout, the name and `onNotice` of the configuration.
    public init(_ configuration: PoolConfiguration, channels: [String]) throws(PostgreSQLError) {
        let string = try ConnectionString(configuration.conninfo)
        let mailbox = Mailbox()
        let wakeup = try Wakeup()
        mailbox.onShutDown { wakeup.signal() }
        self.mailbox = mailbox
        let connector = Connector(string: string, configuration: configuration, wakeup: wakeup)
        let thread = Thread { ListenerLoop(connector: connector, channels: channels, mailbox: mailbox).run() }
        thread.name = "postgresql-listen"
        thread.start()
    }

    deinit {
        mailbox.shutDown()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(listener: self)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let listener: Listener

        /// The next event; `nil` once the task is cancelled.
        public func next() async -> Event? {
            await listener.mailbox.next()
        }

        public func next(isolation actor: isolated (any Actor)?) async -> Event? {
            await listener.mailbox.next()
        }
    }
}

/// The loop of a listener's thread: connect, listen, pass notifications on, and begin again.
private struct ListenerLoop {
    let connector: Connector
    let channels: [String]
    let mailbox: Mailbox

    /// A connection that was cut without a word is noticed by asking.
    private static let heartbeat = Duration.seconds(30)

    func run() {
        var failures = 0
        while !mailbox.isShutDown {
            do throws(PostgreSQLError) {
                let session = try connector.connect { mailbox.isShutDown }
                try listen(session)
                failures = 0
                try forward(session)
            } catch {
                if mailbox.isShutDown { return }
                mailbox.put([.interrupted(error)])
                pause(failures)
                failures += 1
            }
        }
    }

    private func listen(_ session: Session) throws(PostgreSQLError) {
        for channel in channels {
            _ = try session.runScript("LISTEN \(Query.quoted(channel))", limits)
        }
        mailbox.put([.listening])
    }

    private func forward(_ session: Session) throws(PostgreSQLError) {
        while !mailbox.isShutDown {
            mailbox.put(session.takeNotifications().map { .notification($0) })
            if session.isBroken { throw .connectionLost }
            if !session.sleepWhileIdle(until: .after(Self.heartbeat)) {
                _ = try session.runScript("SELECT 1", limits)
            }
        }
    }

    private var limits: Limits {
        Limits(deadline: .after(connector.configuration.connectTimeout), cancellation: nil)
    }

    /// Doubles from 100 ms to 10 s, half of it by chance so that many listeners do not come at once.
    private func pause(_ failures: Int) {
        let longest = min(10_000, 100 << min(failures, 7))
        let deadline = Deadline.after(.milliseconds(Int.random(in: longest / 2...longest)))
        while !mailbox.isShutDown, !deadline.hasPassed {
            var file = pollfd(fd: connector.wakeup.readEnd, events: Int16(POLLIN), revents: 0)
            if poll(&file, 1, deadline.pollMilliseconds) > 0 { connector.wakeup.drain() }
        }
    }
}

/// Events between a listener's thread and its reader.
private final class Mailbox: Sendable {
    private struct State {
        var events: [Listener.Event] = []
        var reader: CheckedContinuation<Listener.Event?, Never>?
        var isShutDown = false
        var onShutDown: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    /// A reader this far behind must read everything again anyway.
    private static let limit = 4096

    var isShutDown: Bool { state.withLock(\.isShutDown) }

    func onShutDown(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onShutDown = action }
    }

    func put(_ events: [Listener.Event]) {
        guard !events.isEmpty else { return }
        let (reader, event) = state.withLock { state in
            state.events += events
            if state.events.count > Self.limit { state.events = [.listening] }
            guard let reader = state.reader else {
                return (nil as CheckedContinuation<Listener.Event?, Never>?, nil as Listener.Event?)
            }
            state.reader = nil
            return (reader, state.events.removeFirst())
        }
        reader?.resume(returning: event)
    }

    func next() async -> Listener.Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (ready, event) = state.withLock { state -> (Bool, Listener.Event?) in
                    if state.isShutDown { return (true, nil) }
                    if !state.events.isEmpty { return (true, state.events.removeFirst()) }
                    // One reader: an earlier one that still waits is let go.
                    state.reader?.resume(returning: nil)
                    state.reader = continuation
                    return (false, nil)
                }
                if ready { continuation.resume(returning: event) }
                if Task.isCancelled { shutDown() }
            }
        } onCancel: {
            shutDown()
        }
    }

    func shutDown() {
        let (reader, action) = state.withLock { state in
            state.isShutDown = true
            defer { state.reader = nil }
            return (state.reader, state.onShutDown)
        }
        reader?.resume(returning: nil)
        action()
    }
}
