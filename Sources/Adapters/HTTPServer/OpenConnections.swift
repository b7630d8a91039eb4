import IPAddresses
import Logging
import NIOCore
import Synchronization

/// The open connections of a server. Limits their number, closes idle ones for new ones when nearly all are open, and ends them with
/// the server.
///
/// No client can keep the others out. Each client has a share of all connections. When nearly all are open, the server closes idle
/// connections of the client that has most first. The fuller the server is, the sooner it closes an idle connection.
final class OpenConnections: Sendable {
    private struct State {
        /// Accepted connections, including those that are not set up yet.
        var count = 0
        var connections: [ObjectIdentifier: KnownConnection] = [:]
        /// Of clients that are not proxies.
        var ofClients: [ClientAddress: [ObjectIdentifier: KnownConnection]] = [:]
        /// The clients by how many connections they have, so that the one with most is found at once.
        var clientsByCount: [Int: Set<ClientAddress>] = [:]
        var largestCount = 0
        /// Whether the server ends, so that later connections are closed at once.
        var isEnding = false
        /// When the log last said that all connections are open, and that a client has its share.
        var toldAt: ContinuousClock.Instant?
        var toldOfShareAt: ContinuousClock.Instant?

        mutating func change(_ client: ClientAddress, from old: Int, to new: Int) {
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
    private let isProxy: @Sendable (IPAddress?) -> Bool
    private let logger: Logger
    private let onCount: (@Sendable (Int) -> Void)?
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
    ///   - isProxy: Whether a peer is a trusted proxy.
    ///   - onCount: Called with the number of open connections whenever it changes.
    ///   - now: The clock, which a test can stop.
    init(
        maximum: Int, share: Int? = nil, isProxy: @escaping @Sendable (IPAddress?) -> Bool = { _ in false },
        logger: Logger, onCount: (@Sendable (Int) -> Void)? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.maximum = maximum
        self.share = share ?? max(maximum / 10, 1)
        self.isProxy = isProxy
        self.logger = logger
        self.onCount = onCount
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
        onCount?(count)
    }

    /// Further clients wait in the system's queue until a connection ends. A log line says so, once a minute at most.
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

    /// Adds a connection for as long as it is open.
    /// - Returns: The connection; nil if the server ends, or if its client has its share already, which is logged once a
    ///   minute at most.
    func add(_ channel: any Channel) -> KnownConnection? {
        let id = ObjectIdentifier(channel)
        let peer = channel.remoteAddress.flatMap(IPAddress.init)
        let client = isProxy(peer) ? nil : ClientAddress(peer)
        let connection = KnownConnection(channel)
        let now = now()
        let (mayStay, isNews, asked) = state.withLock { state -> (Bool, Bool, [KnownConnection]) in
            if state.isEnding { return (false, false, []) }
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

    var isEmpty: Bool { state.withLock { $0.connections.isEmpty } }

    /// Asks all connections to end once their requests are over. Connections that are accepted later are closed.
    func drainAll() {
        let channels = state.withLock { state in
            state.isEnding = true
            return state.connections.values.map(\.channel)
        }
        for channel in channels {
            channel.eventLoop.execute {
                channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
        }
    }

    /// Cuts all open connections, and those that are accepted later.
    /// - Returns: The number of open ones.
    func cutAll() -> Int {
        let channels = state.withLock { state in
            state.isEnding = true
            return state.connections.values.map(\.channel)
        }
        for channel in channels { channel.eventLoop.execute { channel.cut() } }
        return channels.count
    }
}

/// Groups clients by ``IPAddress/ofClient``. All clients without a known address, as on a Unix socket, are one.
private struct ClientAddress: Hashable {
    private let prefix: IPAddress?

    init(_ address: IPAddress?) {
        prefix = address?.ofClient
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
final class ReadTimeHandler: ChannelInboundHandler, RemovableChannelHandler {
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
