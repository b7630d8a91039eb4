import HummingbirdCore
import IPAddresses
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
        /// Of clients, but for proxies.
        var counts: [Client.Address: Int] = [:]
        /// When it was said last that there are as many as may be, and that a client has as many.
        var toldAt: ContinuousClock.Instant?
        var toldOfShareAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let proxies: TrustedProxies
    private let logger: Logger
    private let gauge: Meter?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long the log says no more of it.
    private static let silence = Duration.seconds(60)

    /// - Parameters:
    ///   - gauge: What tells how many there are; nil for connections that are none of clients.
    ///   - now: The clock, which a test can stop.
    init(
        maximum: Int, proxies: TrustedProxies, logger: Logger,
        gauge: Meter? = Meter(label: "http_server_connections"),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.maximum = maximum
        self.proxies = proxies
        self.logger = logger
        self.gauge = gauge
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
        gauge?.set(count)
    }

    /// How many connections one client may have, which is no proxy: half of all, since behind one address there may be a
    /// stadium, and nobody is to have all. [ours]
    private var share: Int { max(maximum / 2, 1) }

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

    /// Knows a connection for as long as it is open.
    /// - Returns: Whether its client may have it. The log says once a minute that one may not.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let peer = channel.remoteAddress.flatMap(IPAddress.init)
        let client = proxies.contains(peer) ? nil : Client.Address(peer)
        let now = now()
        let (mayStay, isNews) = state.withLock { state -> (Bool, Bool) in
            state.channels[id] = channel
            guard let client else { return (true, false) }
            state.counts[client, default: 0] += 1
            guard state.counts[client, default: 0] > share else { return (true, false) }
            if let toldAt = state.toldOfShareAt, now - toldAt < Self.silence { return (false, false) }
            state.toldOfShareAt = now
            return (false, true)
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.channels.removeValue(forKey: id)
                guard let client, let count = state.counts[client] else { return }
                state.counts[client] = count > 1 ? count - 1 : nil
            }
        }
        if isNews {
            logger.warning(
                "a client has half of all connections that may be: its further ones are closed (--max-connections)",
                metadata: ["connections": "\(share)"])
        }
        return mayStay
    }

    // MARK: Ending

    /// Cuts all that are open, whatever they wait for.
    /// - Returns: How many there were.
    func cutAll() -> Int {
        let channels = state.withLock { $0.channels.values.map { $0 } }
        for channel in channels { channel.eventLoop.execute { channel.cut() } }
        return channels.count
    }
}

/// A connection of the library's that the server knows of, and reads little of at once.
struct KnownChannel<Library: ServerChildChannel>: ServerChildChannel {
    let library: Library
    let connections: OpenConnections

    /// How much is read of a connection at once, in bytes. [ours]
    ///
    /// What is read at once is decoded at once, and a request takes many times its bytes: who sends hundreds of small ones and
    /// reads no answer is not to have the memory for them.
    private static var readLength: Int { 4_096 }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Library.Value> {
        let mayStay = connections.add(channel)
        return limitReads(of: channel).flatMap {
            library.setup(channel: channel, logger: logger)
        }.map { value in
            // Not before: what is closed cannot be set up.
            if !mayStay { channel.close(promise: nil) }
            return value
        }
    }

    private func limitReads(of channel: any Channel) -> EventLoopFuture<Void> {
        channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readLength))
            .flatMap { channel.setOption(.maxMessagesPerRead, value: 1) }
    }

    func handle(value: Library.Value, logger: Logger) async {
        await library.handle(value: value, logger: logger)
    }
}
