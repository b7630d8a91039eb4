import HummingbirdCore
import IPAddresses
import Logging
import Metrics
import NIOCore
import Synchronization

/// The connections of a server: limits how many are open, makes room for new ones when nearly all are, and cuts those that are
/// left when the server ends.
///
/// No client can keep the others out: it has a share of all connections; when nearly all are open, idle ones are closed, those of
/// the client that has most first; and the fuller the server is, the sooner an idle connection is closed.
final class OpenConnections: AvailableConnectionsDelegate, Sendable {
    private struct State {
        /// Accepted connections, including those that are not set up yet.
        var count = 0
        var connections: [ObjectIdentifier: KnownConnection] = [:]
        /// Of clients that are not proxies.
        var ofClients: [Client.Address: [ObjectIdentifier: KnownConnection]] = [:]
        /// The clients by how many connections they have, so that the one with most is found at once.
        var clientsByCount: [Int: Set<Client.Address>] = [:]
        var largestCount = 0
        /// When the log last said that all connections are open, and that a client has its share.
        var toldAt: ContinuousClock.Instant?
        var toldOfShareAt: ContinuousClock.Instant?

        mutating func change(_ client: Client.Address, from old: Int, to new: Int) {
            if clientsByCount[old]?.remove(client) != nil, clientsByCount[old]?.isEmpty == true {
                clientsByCount[old] = nil
            }
            if new > 0 { clientsByCount[new, default: []].insert(client) }
            largestCount = max(largestCount, new)
            while largestCount > 0, clientsByCount[largestCount] == nil { largestCount -= 1 }
        }
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let share: Int
    private let proxies: TrustedProxies
    private let logger: Logger
    private let gauge: Meter?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long the log does not repeat itself.
    private static let silence = Duration.seconds(60)
    /// From how many in a hundred on room is made for new connections. [ours]
    private static let nearlyFull = 90
    /// How many connections are asked to close for each new one when nearly all are open: some are not idle. [ours]
    private static let askedWhenNearlyFull = 2
    /// How many connections are asked to close when all are open. The server does not ask again until a connection closes,
    /// so one of them must be idle. [ours]
    private static let askedWhenFull = 64
    /// How many connections are compared, if several clients have equally many. [ours]
    private static let comparedConnections = 256

    /// - Parameters:
    ///   - share: How many connections one client may have; nil for a tenth of all [ours], because behind one address there can
    ///     be a stadium. Trusted proxies are exempt.
    ///   - gauge: Shows how many connections are open; nil for connections that are not of clients.
    ///   - now: The clock, which a test can stop.
    init(
        maximum: Int, share: Int? = nil, proxies: TrustedProxies, logger: Logger,
        gauge: Meter? = Meter(label: "doorstep_http_connections"),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.maximum = maximum
        self.share = share ?? max(maximum / 10, 1)
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

    /// Others wait in the system's queue until one of these ends. The log says so once a minute, however many wait.
    func isAcceptingNewConnections() -> Bool {
        let now = now()
        let (isFull, isNews, asked) = state.withLock { state -> (Bool, Bool, [KnownConnection]) in
            guard state.count >= maximum else { return (false, false, []) }
            let asked = idleConnections(Self.askedWhenFull, &state)
            if let toldAt = state.toldAt, now - toldAt < Self.silence { return (true, false, asked) }
            state.toldAt = now
            return (true, true, asked)
        }
        for connection in asked { connection.askToClose() }
        if isNews {
            logger.warning(
                "the maximum number of connections is open: new ones wait until one closes (--max-connections)",
                metadata: ["connections": "\(maximum)"])
        }
        return !isFull
    }

    /// Knows a connection for as long as it is open.
    /// - Returns: The connection; nil if its client has its share already. The log says once a minute that one has.
    func add(_ channel: any Channel) -> KnownConnection? {
        let id = ObjectIdentifier(channel)
        let peer = channel.remoteAddress.flatMap(IPAddress.init)
        let client = proxies.contains(peer) ? nil : Client.Address(peer)
        let connection = KnownConnection(channel)
        let now = now()
        let (mayStay, isNews, asked) = state.withLock { state -> (Bool, Bool, [KnownConnection]) in
            // Before the new one is among them.
            let isNearlyFull = max(state.count, state.connections.count) * 100 >= maximum * Self.nearlyFull
            let asked = isNearlyFull ? idleConnections(Self.askedWhenNearlyFull, &state) : []
            state.connections[id] = connection
            guard let client else { return (true, false, asked) }
            state.ofClients[client, default: [:]][id] = connection
            let count = state.ofClients[client]?.count ?? 0
            state.change(client, from: count - 1, to: count)
            guard count > share else { return (true, false, asked) }
            if let toldAt = state.toldOfShareAt, now - toldAt < Self.silence { return (false, false, asked) }
            state.toldOfShareAt = now
            return (false, true, asked)
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.connections.removeValue(forKey: id)
                guard let client, state.ofClients[client]?.removeValue(forKey: id) != nil else { return }
                let count = state.ofClients[client]?.count ?? 0
                if count == 0 { state.ofClients[client] = nil }
                state.change(client, from: count + 1, to: count)
            }
        }
        for connection in asked { connection.askToClose() }
        if isNews {
            logger.warning(
                "a client has its maximum share of connections: its further ones are closed (--max-connections)",
                metadata: ["connections": "\(share)"])
        }
        return mayStay ? connection : nil
    }

    // MARK: Making room

    /// The connections of the client with most that have read nothing for longest, then those of the next client. Each counts as active from now on, so that
    /// the next ones are asked next if these have requests under way.
    private func idleConnections(_ count: Int, _ state: inout State) -> [KnownConnection] {
        var asked: [KnownConnection] = []
        var size = state.largestCount
        while size > 0, asked.count < count {
            var connections: [(connection: KnownConnection, lastRead: UInt64)] = []
            for client in state.clientsByCount[size] ?? [] {
                connections += (state.ofClients[client] ?? [:]).values.map { ($0, $0.lastRead) }
                guard connections.count < Self.comparedConnections else { break }
            }
            connections.sort { $0.lastRead < $1.lastRead }
            asked += connections.prefix(count - asked.count).map(\.connection)
            size -= 1
        }
        for connection in asked { connection.hasRead() }
        return asked
    }

    /// How long an idle connection may stay open now: the usual time up to half of all connections, a tenth of it when all are
    /// open, and in between accordingly. [ours]
    func idleTime(of usual: TimeAmount) -> TimeAmount {
        let count = state.withLock { $0.count }
        let free = Double(max(maximum - count, 0)) / Double(max(maximum, 1))
        return .nanoseconds(Int64(Double(usual.nanoseconds) * min(1, 0.1 + 1.8 * free)))
    }

    // MARK: Ending

    /// Cuts all that are open, whatever they wait for.
    /// - Returns: How many there were.
    func cutAll() -> Int {
        let channels = state.withLock { $0.connections.values.map(\.channel) }
        for channel in channels { channel.eventLoop.execute { channel.cut() } }
        return channels.count
    }
}

/// One of the connections of a server.
final class KnownConnection: Sendable {
    let channel: any Channel
    /// When bytes were read last, in nanoseconds of `NIODeadline`.
    private let time = Atomic<UInt64>(NIODeadline.now().uptimeNanoseconds)

    fileprivate init(_ channel: any Channel) {
        self.channel = channel
    }

    var lastRead: UInt64 { time.load(ordering: .relaxed) }

    func hasRead() { time.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

    /// Closes the connection if it has no request under way.
    fileprivate func askToClose() {
        channel.eventLoop.execute { [channel] in
            channel.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
        }
    }
}

/// An inbound event: other clients want a connection, so that one without a request under way is closed.
struct RoomIsWanted: Sendable {}

/// Notes when a connection reads.
private final class ReadTimeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let connection: KnownConnection

    init(_ connection: KnownConnection) {
        self.connection = connection
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        connection.hasRead()
        context.fireChannelReadComplete()
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
        let known = connections.add(channel)
        return limitReads(of: channel).flatMap {
            library.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            if let known {
                try channel.pipeline.syncOperations.addHandler(ReadTimeHandler(known), position: .first)
            } else {
                // Not before: a closed connection cannot be set up.
                channel.close(promise: nil)
            }
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
