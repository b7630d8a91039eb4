import Formats
import Logging
import NIOCore
import Synchronization

/// The open connections of a server. Limits their number, closes idle connections to make room for new ones, and closes all
/// connections with the server.
///
/// No client can exclude the others. Each client has a share of all connections. If nearly all are open, the server closes idle
/// connections, first those of the client with the most connections. The fuller the server is, the sooner it closes an idle
/// connection.
final class OpenConnections: Sendable {
    private struct State {
        /// Accepted connections, including those that are not set up yet.
        var count = 0
        var connections: [ObjectIdentifier: KnownConnection] = [:]
        /// The connections of each client, without proxies.
        var ofClients: [ClientAddress: [ObjectIdentifier: KnownConnection]] = [:]
        /// The clients by their number of connections, to find the client with the most at once.
        var clientsByCount: [Int: Set<ClientAddress>] = [:]
        var largestCount = 0
        /// Whether the server ends, so that later connections are closed at once.
        var isEnding = false
        /// The times of the last log lines: all connections are open, and a client has its share.
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

    /// The shortest time between two equal log lines.
    private static let silence = Duration.seconds(60)
    /// The percentage of open connections from which the server makes room for new ones. [ours]
    private static let nearlyFull = 90
    /// If nearly all connections are open: how many are asked to close for each new one. More than one, because some are not
    /// idle. [ours]
    private static let askedWhenNearlyFull = 2
    /// If all connections are open: how many are asked to close. The server does not ask again until a connection closes, so
    /// at least one of these must be idle. [ours]
    private static let askedWhenFull = 64
    /// How many connections are compared if several clients have the same number of connections. [ours]
    private static let comparedConnections = 256

    /// - Parameters:
    ///   - share: The maximum number of connections of one client; nil for a tenth of `maximum` [ours]. Many people can have the same
    ///     address, for example in a stadium. Trusted proxies have no such limit.
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

    /// The longest idle connections of the client with the most connections, then those of the next client. Each of them counts as
    /// active from now on: if it has a running request and stays open, the next call returns others.
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

    /// How long an idle connection may stay open now. If at most half of all connections are open, this is the usual time. It then
    /// decreases linearly to a tenth, when all are open. [ours]
    func idleTime(of usual: TimeAmount) -> TimeAmount {
        let count = state.withLock { $0.count }
        let free = Double(max(maximum - count, 0)) / Double(max(maximum, 1))
        return .nanoseconds(Int64(Double(usual.nanoseconds) * min(1, 0.1 + 1.8 * free)))
    }

    // MARK: Ending

    var isEmpty: Bool { state.withLock { $0.connections.isEmpty } }

    /// Asks all connections to end after their requests. Connections that are accepted later are closed.
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

    /// Cuts all open connections, and all that are accepted later.
    /// - Returns: The number of connections that were open.
    func cutAll() -> Int {
        let channels = state.withLock { state in
            state.isEnding = true
            return state.connections.values.map(\.channel)
        }
        for channel in channels { channel.eventLoop.execute { channel.cut() } }
        return channels.count
    }
}

/// Groups clients by ``IPAddress/ofClient``. All clients without a known address, such as those of a Unix socket, count as one.
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

/// An inbound event: room for other clients is needed, so a connection is closed if all its requests have their
/// responses.
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
