import Foundation

/// The pool's decisions, without threads, sockets or clocks: every event returns the next actions.
///
/// A connection is connecting, idle or busy, and counts against the maximum. A closed one may still have its thread, which may
/// also end during a lease. Tasks are served in the order of a ``WaitingLine``: no task gets a connection in another's turn.
struct PoolStateMachine {
    typealias ConnectionID = Int
    typealias WaiterID = Int

    enum Action: Equatable {
        case connect(ConnectionID)
        case lend(ConnectionID, to: WaiterID)
        case fail(WaiterID, PostgreSQLError)
        /// The connection is not leased again; it may be broken already.
        case close(ConnectionID)
        /// The pool is closed and every connection has ended.
        case finished
    }

    private let maximumConnections: Int
    private let maximumWaiters: Int
    private var connecting: Set<ConnectionID> = []
    /// The most recently used last: the others grow old and are closed.
    private var idle: [ConnectionID] = []
    private var busy: Set<ConnectionID> = []
    /// The busy connections that broke.
    private var broken: Set<ConnectionID> = []
    private var threads: Set<ConnectionID> = []
    private var waiters = WaitingLine()
    private var nextConnection = 0
    /// Connections below this number are not leased again.
    private var staleBelow = 0
    private var isClosing = false

    init(maximumConnections: Int, maximumWaiters: Int) {
        self.maximumConnections = max(1, maximumConnections)
        self.maximumWaiters = max(1, maximumWaiters)
    }

    var statistics: PoolStatistics {
        PoolStatistics(
            idle: idle.count, busy: busy.count, connecting: connecting.count, waiting: waiters.count)
    }

    // MARK: - Tasks

    /// An idle connection, if no task waits for one.
    mutating func lendIdle() -> ConnectionID? {
        guard !isClosing, waiters.isEmpty, let connection = idle.popLast() else { return nil }
        busy.insert(connection)
        return connection
    }

    /// - Parameter party: The party whose turn is used. If too many wait, the last task of the party with the most is refused.
    mutating func acquire(_ waiter: WaiterID, for party: UUID? = nil) -> [Action] {
        if isClosing { return [.fail(waiter, .poolClosed)] }
        if let connection = lendIdle() { return [.lend(connection, to: waiter)] }
        var refused: [Action] = []
        if waiters.count >= maximumWaiters {
            guard let other = waiters.popLast(toMakeRoomFor: party) else {
                return [.fail(waiter, .poolExhausted)]
            }
            refused = [.fail(other, .poolExhausted)]
        }
        waiters.append(waiter, for: party)
        return refused + connectIfNeeded()
    }

    /// A task that waits no longer; nothing if it was served meanwhile.
    mutating func giveUp(_ waiter: WaiterID, _ error: PostgreSQLError) -> [Action] {
        guard waiters.remove(waiter) else { return [] }
        return [.fail(waiter, error)]
    }

    mutating func release(_ connection: ConnectionID, isReusable: Bool) -> [Action] {
        guard busy.remove(connection) != nil else { return [] }
        let isBroken = broken.remove(connection) != nil
        guard isReusable, !isBroken, !isClosing, connection >= staleBelow else {
            return [.close(connection)] + connectIfNeeded()
        }
        return lendOrKeep(connection)
    }

    // MARK: - Connections

    /// Whether the attempt is still needed: `close` may have come since.
    func isConnecting(_ connection: ConnectionID) -> Bool { connecting.contains(connection) }

    /// A connection is open; it is closed again if it is no longer needed.
    mutating func connected(_ connection: ConnectionID) -> [Action] {
        guard connecting.remove(connection) != nil else { return [.close(connection)] }
        guard connection >= staleBelow else { return [.close(connection)] + connectIfNeeded() }
        return lendOrKeep(connection)
    }

    /// An attempt fails the task whose turn it is, so none waits for a server that is not there.
    mutating func connectFailed(_ connection: ConnectionID, _ error: PostgreSQLError) -> [Action] {
        guard connecting.remove(connection) != nil else { return [] }
        let failed: [Action] = waiters.popFirst().map { [.fail($0, error)] } ?? []
        return [.close(connection)] + failed + connectIfNeeded()
    }

    /// A connection accepts no more statements; if it is leased, its release follows.
    mutating func lost(_ connection: ConnectionID) -> [Action] {
        if busy.contains(connection) { broken.insert(connection) }
        return idled(connection)
    }

    /// A connection that was not used for the idle timeout.
    mutating func idled(_ connection: ConnectionID) -> [Action] {
        guard let index = idle.firstIndex(of: connection) else { return [] }
        idle.remove(at: index)
        return [.close(connection)]
    }

    /// A connection's thread is at its end.
    mutating func ended(_ connection: ConnectionID) -> [Action] {
        threads.remove(connection)
        return finishedIfDone()
    }

    /// No existing connection is leased again, because it leads to the wrong server.
    mutating func invalidate() -> [Action] {
        staleBelow = nextConnection
        return closeIdle()
    }

    mutating func close() -> [Action] {
        isClosing = true
        let failures = waiters.removeAll().map { Action.fail($0, .poolClosed) }
        let attempts = connecting.sorted()
        connecting = []
        return failures + closeIdle() + attempts.map { .close($0) } + finishedIfDone()
    }

    /// The connections that are still leased at the end of the time to return them.
    mutating func closeBusy() -> [Action] {
        busy.sorted().map { .close($0) }
    }

    // MARK: - Steps

    private mutating func lendOrKeep(_ connection: ConnectionID) -> [Action] {
        guard let waiter = waiters.popFirst() else {
            idle.append(connection)
            return []
        }
        busy.insert(connection)
        return [.lend(connection, to: waiter)]
    }

    private mutating func connectIfNeeded() -> [Action] {
        guard !isClosing else { return finishedIfDone() }
        var actions: [Action] = []
        while connecting.count < waiters.count,
            connecting.count + idle.count + busy.count < maximumConnections
        {
            connecting.insert(nextConnection)
            threads.insert(nextConnection)
            actions.append(.connect(nextConnection))
            nextConnection += 1
        }
        return actions
    }

    private mutating func closeIdle() -> [Action] {
        defer { idle = [] }
        return idle.map { .close($0) }
    }

    private func finishedIfDone() -> [Action] {
        isClosing && busy.isEmpty && threads.isEmpty ? [.finished] : []
    }
}

/// The number and the total duration of waits for a connection.
public struct PoolWaits: Sendable, Hashable {
    public fileprivate(set) var count = 0
    public fileprivate(set) var duration = Duration.zero

    public init() {}

    mutating func add(_ wait: Duration) {
        count += 1
        duration += wait
    }
}

/// How a pool's connections are used at one moment.
public struct PoolStatistics: Sendable, Hashable {
    public let idle: Int
    public let busy: Int
    public let connecting: Int
    /// Tasks that wait for a connection.
    public let waiting: Int
}
