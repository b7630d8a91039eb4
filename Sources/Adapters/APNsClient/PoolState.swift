import NIOCore

/// Chooses the connection of each request, and decides when to open another. Makes a pool's decisions without carrying them out.
///
/// A connection has one stream until APNs has sent its settings and taken a provider token: "never assume a specific
/// number" [Apple].
struct PoolState {
    struct Limits {
        var connections: Int
        var streams: Int
        var firstPause: TimeAmount
        var longestPause: TimeAmount
    }

    /// The next step for waiting requests.
    enum Need: Hashable {
        case nothing
        case connect(Int)
        /// Nothing before then.
        case pause(until: NIODeadline)
    }

    private struct Connection {
        var phase = Phase.connecting
        /// The number of streams that APNs allows.
        var allowed = 1
        /// Whether APNs has taken a provider token on it.
        var isTrusted = false
        /// Whether it is counted as one that came to nothing.
        var hasFailed = false
        var used = 0
        /// The condition for further requests on the connection.
        var awaits: Set<Awaited> = []
    }

    enum Awaited {
        /// A provider token.
        case token
        /// The response to a PING, after a long silence.
        case ping
    }

    private enum Phase {
        case connecting
        case open
        /// No more requests go there.
        case leaving
    }

    private let limits: Limits
    private var connections: [Int: Connection] = [:]
    private var lastID = 0
    /// Connections in a row that came to nothing.
    private(set) var failures = 0
    private var retryAt: NIODeadline?

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The streams that may be open on a connection now.
    private func room(_ connection: Connection) -> Int {
        guard connection.phase == .open, connection.awaits.isEmpty else { return 0 }
        let limit =
            connection.isTrusted ? min(connection.allowed, limits.streams) : min(connection.allowed, 1)
        return max(0, limit - connection.used)
    }

    /// Takes a stream on the connection with the fewest streams in use; nil if no connection has room.
    mutating func takeStream() -> Int? {
        // Of equals the older, so that the same things happen each time.
        var best: (used: Int, id: Int)?
        for (id, connection) in connections where room(connection) > 0 {
            if best.map({ (connection.used, id) < ($0.used, $0.id) }) ?? true { best = (connection.used, id) }
        }
        guard let id = best?.id else { return nil }
        connections[id]?.used += 1
        return id
    }

    /// Gives back a stream that has ended.
    mutating func giveBackStream(of id: Int) {
        connections[id]?.used -= 1
    }

    /// The next step when requests wait and no connection has room.
    mutating func need(at now: NIODeadline) -> Need {
        let usable = connections.values.filter { $0.phase != .leaving }
        // One that has yet to show how many streams it will have, or that it is alive, may have enough.
        guard usable.count < limits.connections, usable.allSatisfy({ $0.isTrusted && $0.awaits.isEmpty })
        else { return .nothing }
        if let retryAt, now < retryAt { return .pause(until: retryAt) }
        lastID += 1
        connections[lastID] = Connection()
        return .connect(lastID)
    }

    /// The settings of APNs have come; nil for no limit of streams in them.
    mutating func settingsCame(for id: Int, streams: Int?) {
        guard var connection = connections[id] else { return }
        if connection.phase == .connecting {
            connection.phase = .open
            // Without a limit, a hundred, as RFC 9113 §6.5.2 would have it at least.
            connection.allowed = streams ?? 100
        } else if let streams {
            connection.allowed = streams
        }
        connections[id] = connection
    }

    /// The connection gets no more requests until the response that it waits for has come.
    mutating func hold(_ id: Int, for awaited: Awaited) {
        connections[id]?.awaits.insert(awaited)
    }

    /// The expected event of the connection has occurred.
    mutating func release(_ id: Int, from awaited: Awaited) {
        connections[id]?.awaits.remove(awaited)
    }

    /// The response shows that APNs accepted the provider token. Other responses show nothing: a server that refuses every
    /// token must not be called endlessly.
    mutating func trusted(_ id: Int) {
        connections[id]?.isTrusted = true
        failures = 0
        retryAt = nil
    }

    /// No more requests are to go there.
    mutating func leave(_ id: Int) {
        connections[id]?.phase = .leaving
    }

    /// The connection has failed, in any state; it gets no more requests.
    /// - Parameter random: from 0 to 1: how much of the second half of the pause is kept.
    mutating func failed(_ id: Int, at now: NIODeadline, random: Double) {
        guard connections[id]?.hasFailed == false else { return }
        connections[id]?.phase = .leaving
        connections[id]?.hasFailed = true
        pause(at: now, random: random)
    }

    /// Records that a connection was closed, or could not be opened.
    /// - Parameter random: From 0 to 1: the part of the pause's second half that is kept.
    mutating func closed(_ id: Int, at now: NIODeadline, random: Double) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        // A connection that failed before a response, also after it was made: a server that closes at once must not be called
        // endlessly.
        if !connection.isTrusted, !connection.hasFailed { pause(at: now, random: random) }
    }

    private mutating func pause(at now: NIODeadline, random: Double) {
        failures += 1
        let doublings = min(failures - 1, 30)
        let full = min(limits.firstPause * (1 << doublings), limits.longestPause)
        retryAt = now + TimeAmount.nanoseconds(Int64(Double(full.nanoseconds) * (0.5 + random / 2)))
    }

    var connectionCount: Int { connections.count }
}
