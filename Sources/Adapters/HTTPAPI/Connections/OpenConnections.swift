import HummingbirdCore
import Logging
import Metrics
import NIOCore
import Synchronization

/// The connections that a server has: it accepts no more than so many, and can cut those that are left when it ends.
final class OpenConnections: AvailableConnectionsDelegate, Sendable {
    private struct State {
        /// Accepted, those too that are not set up yet.
        var count = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// When it was said last that there are as many as may be.
        var toldAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let logger: Logger
    private let gauge = Meter(label: "http_server_connections")
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long the log says no more of it.
    private static let silence = Duration.seconds(60)

    /// - Parameter now: The clock, which a test can stop.
    init(
        maximum: Int, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.maximum = maximum
        self.logger = logger
        self.now = now
    }

    // MARK: Accepting

    func connectionOpened() { change(by: 1) }

    func connectionClosed() { change(by: -1) }

    private func change(by difference: Int) {
        let count = state.withLock { state in
            state.count += difference
            return state.count
        }
        gauge.set(count)
    }

    /// Others wait in the system's queue until one of these ends. The log says so once a minute, however many wait.
    func isAcceptingNewConnections() -> Bool {
        let now = now()
        let (isFull, isNews) = state.withLock { state -> (Bool, Bool) in
            guard state.count >= maximum else { return (false, false) }
            if let toldAt = state.toldAt, now - toldAt < Self.silence { return (true, false) }
            state.toldAt = now
            return (true, true)
        }
        if isNews {
            logger.warning(
                "as many connections are open as may be: new ones wait until one ends (--max-connections)",
                metadata: ["connections": "\(maximum)"])
        }
        return !isFull
    }

    // MARK: Ending

    /// Knows a connection for as long as it is open.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.channels[id] = channel }
        channel.closeFuture.whenComplete { _ in
            _ = self.state.withLock { $0.channels.removeValue(forKey: id) }
        }
    }

    /// Cuts all that are open, whatever they wait for.
    /// - Returns: How many there were.
    func cutAll() -> Int {
        let channels = state.withLock { $0.channels.values.map { $0 } }
        for channel in channels { channel.eventLoop.execute { channel.cut() } }
        return channels.count
    }
}

/// A connection of the library's that the server knows of.
struct KnownChannel<Library: ServerChildChannel>: ServerChildChannel {
    let library: Library
    let connections: OpenConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Library.Value> {
        connections.add(channel)
        return library.setup(channel: channel, logger: logger)
    }

    func handle(value: Library.Value, logger: Logger) async {
        await library.handle(value: value, logger: logger)
    }
}
