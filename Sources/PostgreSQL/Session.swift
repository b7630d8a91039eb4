import CLibPQ
import Foundation

/// A connection to the server, used by one thread only.
///
/// Every call that can wait has a deadline, and ends early when its job is cancelled or the session is shut
/// down. After an error other than the server's own, `isBroken` is true and only closing is left.
final class Session {
    private let connection: OpaquePointer
    private let wakeup: Wakeup
    private let isShutDown: () -> Bool
    private let notices: NoticeSink
    private var statements: StatementCache

    private(set) var isBroken = false
    /// Whether a statement is under way that the server should be told to give up.
    private(set) var isAbandoned = false

    /// Receives the notices of one connection; libpq holds a plain pointer to it, the session keeps it alive.
    private final class NoticeSink {
        let handler: @Sendable (ServerError) -> Void
        /// Set by a COMMIT that did not wait for the synchronous standby.
        var commitIsLocalOnly = false

        init(handler: @escaping @Sendable (ServerError) -> Void) {
            self.handler = handler
        }

        func receive(_ notice: ServerError) {
            if notice.sourceFunction == "SyncRepWaitForLSN" { commitIsLocalOnly = true }
            handler(notice)
        }
    }

    init(
        connection: OpaquePointer, configuration: PoolConfiguration, wakeup: Wakeup,
        isShutDown: @escaping () -> Bool
    ) {
        self.connection = connection
        self.wakeup = wakeup
        self.isShutDown = isShutDown
        notices = NoticeSink(handler: configuration.onNotice)
        statements = StatementCache(capacity: configuration.preparedStatements)
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context else { return }
                Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().receive(ServerError(result))
            }, Unmanaged.passUnretained(notices).toOpaque())
    }

    /// Starts to connect with the given keywords and waits until the server is ready for statements.
    convenience init(
        keywords: [String: String], configuration: PoolConfiguration, wakeup: Wakeup, deadline: Deadline,
        isShutDown: @escaping () -> Bool
    ) throws(PostgreSQLError) {
        let pairs = keywords.sorted { $0.key < $1.key }
        let connection = withCStrings(pairs.map(\.key)) { keys in
            withCStrings(pairs.map(\.value)) { values in
                PQconnectStartParams(keys, values, 0)
            }
        }
        guard let connection else { throw .connectFailed(reason: "out of memory") }
        self.init(
            connection: connection, configuration: configuration, wakeup: wakeup, isShutDown: isShutDown)
        try finishConnecting(by: deadline)
    }

    deinit {
        PQfinish(connection)
    }

    var socket: Int32 { PQsocket(connection) }

    var transactionStatus: PGTransactionStatusType { PQtransactionStatus(connection) }
}

extension Session {
    var isInTransaction: Bool { transactionStatus == PQTRANS_INTRANS }
}

// MARK: - Connecting

extension Session {
    /// Completes the handshake that `PQconnectStartParams` began.
    func finishConnecting(by deadline: Deadline) throws(PostgreSQLError) {
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard PQstatus(connection) != CONNECTION_BAD, next != PGRES_POLLING_FAILED else {
                throw .connectFailed(reason: errorText)
            }
            do throws(PostgreSQLError) {
                let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
                _ = try wait(for: Int16(events), Limits(deadline: deadline, cancellation: nil))
            } catch .timeout {
                throw .timeout(.connecting)
            }
            next = PQconnectPoll(connection)
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw .connectFailed(reason: errorText) }
    }

    /// libpq's message on one line.
    private var errorText: String {
        String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
    }
}

// MARK: - Waiting

/// When a job must end.
struct Limits {
    let deadline: Deadline
    let cancellation: Cancellation?
}

extension Session {
    /// Waits until the socket is ready for one of the events.
    private func wait(for events: Int16, _ limits: Limits) throws(PostgreSQLError) -> Int16 {
        while true {
            if isShutDown() { throw abandon(.poolClosed) }
            if limits.cancellation?.isRequested == true { throw abandon(.cancelled) }
            // `poll` passes over a negative descriptor and would wait for nothing.
            guard socket >= 0 else { throw breakOff(.connectionLost) }
            var files = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&files, 2, limits.deadline.pollMilliseconds)
            if ready < 0 && errno != EINTR { throw breakOff(.connectionLost) }
            if ready > 0, files[1].revents != 0 { wakeup.drain() }
            if ready > 0, files[0].revents != 0 { return files[0].revents }
            if limits.deadline.hasPassed { throw abandon(.timeout(.statement)) }
        }
    }

    /// Sleeps until there is a job, and notices what the server sends or does meanwhile.
    ///
    /// Returns false when the time is over with nothing done.
    func sleepWhileIdle(until deadline: Deadline) -> Bool {
        var files = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&files, 2, deadline.pollMilliseconds)
        if ready == 0 { return false }
        if ready > 0, files[1].revents != 0 { wakeup.drain() }
        if ready > 0, files[0].revents != 0 { receive() }
        return true
    }

    /// Takes in what has arrived; the session is broken when the server has gone.
    ///
    /// What it sent before it went, as a FATAL error, is still there to be read.
    func receive() {
        if PQconsumeInput(connection) == 0 || PQstatus(connection) == CONNECTION_BAD { isBroken = true }
    }

    /// Whether the server has not closed the connection as far as can be told without a round trip.
    func isAlive() -> Bool {
        var file = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if poll(&file, 1, 0) > 0 { receive() }
        return !isBroken
    }

    /// Gives up on a statement that the server may still be running.
    private func abandon(_ error: PostgreSQLError) -> PostgreSQLError {
        isAbandoned = true
        return breakOff(error)
    }

    private func breakOff(_ error: PostgreSQLError) -> PostgreSQLError {
        isBroken = true
        return error
    }

    /// Asks the server, on a connection of its own, to stop the statement under way.
    ///
    /// `PQcancel` blocks and knows no deadline: the thread that calls this has nothing else to do any more.
    func requestCancel() {
        guard let cancel = PQgetCancel(connection) else { return }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(cancel, message.baseAddress, Int32(message.count))
        }
        PQfreeCancel(cancel)
    }
}

// MARK: - Statements

extension Session {
    /// Runs one statement with its values, prepared where that is worth it.
    func execute(_ query: Query, _ limits: Limits) throws(PostgreSQLError) -> QueryResult {
        let parameters = try BoundParameters(query.parameters)
        let wasIdle = transactionStatus == PQTRANS_IDLE
        do throws(PostgreSQLError) {
            return try run(query, parameters, limits)
        } catch .server(let error) where wasIdle && (error.sqlState == "26000" || error.isStalePlan) {
            // A pooler or a schema change took the prepared statement away. Nothing was done, and no
            // transaction has failed by it: once more, prepared anew.
            return try run(query, parameters, limits)
        }
    }

    private func run(
        _ query: Query, _ parameters: BoundParameters, _ limits: Limits
    ) throws(PostgreSQLError) -> QueryResult {
        let key = StatementCache.Key(sql: query.sql, types: parameters.types)
        switch query.isPreparable ? statements.step(for: key) : .runUnprepared {
        case .runUnprepared:
            try checkText(query.sql)
            try send { parameters.sendQuery(connection, query.sql) }
        case .execute(let name):
            do throws(PostgreSQLError) {
                try send { parameters.sendPrepared(connection, name) }
                return try collectOne(limits)
            } catch {
                if case .server(let report) = error, report.sqlState == "26000" || report.isStalePlan {
                    statements.forget(name: name)
                    // After a schema change the server still has it, under a name that is not used again.
                    if report.isStalePlan, transactionStatus == PQTRANS_IDLE {
                        _ = try runScript("DEALLOCATE \(name)", limits)
                    }
                }
                throw error
            }
        case .prepare(let name, let evicted):
            if let evicted {
                statements.forget(name: evicted)
                _ = try runScript("DEALLOCATE \(evicted)", limits)
            }
            try checkText(query.sql)
            try send { parameters.sendPrepare(connection, name, query.sql) }
            _ = try collect(limits)
            statements.prepared(key, name: name)
            try send { parameters.sendPrepared(connection, name) }
        }
        return try collectOne(limits)
    }

    /// Runs statements separated by semicolons, without values; returns the last one's result.
    func runScript(_ sql: String, _ limits: Limits) throws(PostgreSQLError) -> QueryResult? {
        try checkText(sql)
        try send { PQsendQuery(connection, sql) }
        return try collect(limits).last
    }

    /// libpq would run the part before a zero byte.
    private func checkText(_ sql: String) throws(PostgreSQLError) {
        guard !sql.utf8.contains(0) else { throw .encoding(reason: "a statement with a zero byte") }
    }

    private func send(_ call: () -> Int32) throws(PostgreSQLError) {
        guard call() == 1 else { throw breakOff(.connectionLost) }
    }

    private func flush(_ limits: Limits) throws(PostgreSQLError) {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                // The server may be unable to read on before what it has sent is read.
                let ready = try wait(for: Int16(POLLIN | POLLOUT), limits)
                if Int32(ready) & POLLIN != 0 { receive() }
            default: throw breakOff(.connectionLost)
            }
        }
    }

    private func nextResult(_ limits: Limits) throws(PostgreSQLError) -> OpaquePointer? {
        while PQisBusy(connection) == 1, !isBroken {
            _ = try wait(for: Int16(POLLIN), limits)
            receive()
        }
        return PQgetResult(connection)
    }

    private func collectOne(_ limits: Limits) throws(PostgreSQLError) -> QueryResult {
        guard let result = try collect(limits).last else { throw breakOff(.connectionLost) }
        return result
    }

    /// Takes all results of what was sent; throws the first error among them.
    private func collect(_ limits: Limits) throws(PostgreSQLError) -> [QueryResult] {
        try flush(limits)
        var results: [QueryResult] = []
        var failure: ServerError?
        while let result = try nextResult(limits) {
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                results.append(QueryResult(storage: ResultStorage(owning: result)))
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(result)
                throw abandon(.unexpectedCopy)
            default:
                failure = failure ?? ServerError(result)
                PQclear(result)
            }
        }
        try check(failure)
        return results
    }

    private func check(_ failure: ServerError?) throws(PostgreSQLError) {
        if isBroken || PQstatus(connection) == CONNECTION_BAD { throw breakOff(.connectionLost) }
        if let failure { throw .server(failure) }
    }
}

// MARK: - Transactions

extension Session {
    func begin(_ mode: TransactionMode, _ limits: Limits) throws(PostgreSQLError) {
        _ = try runScript(mode.beginStatement, limits)
    }

    /// Commits, and returns only if the server said so.
    func commit(_ limits: Limits) throws(PostgreSQLError) {
        guard isAlive() else { throw .connectionLost }
        guard transactionStatus != PQTRANS_IDLE else { throw .transactionEnded }
        notices.commitIsLocalOnly = false
        let result: QueryResult?
        do throws(PostgreSQLError) {
            result = try runScript("COMMIT", limits)
        } catch .server(let error) {
            throw .server(error)
        } catch {
            throw .outcomeUnknown
        }
        guard result?.storage.commandTag == "COMMIT" else { throw .rolledBack }
        if notices.commitIsLocalOnly { throw .outcomeUnknown }
    }

    /// Leaves the session outside any transaction, or broken.
    func rollBack(_ limits: Limits) {
        do throws(PostgreSQLError) {
            if !isBroken, transactionStatus != PQTRANS_IDLE { _ = try runScript("ROLLBACK", limits) }
        } catch {
            isBroken = true
        }
        settle()
    }

    /// Makes sure that nothing is left open before the next user comes.
    func settle() {
        if transactionStatus != PQTRANS_IDLE { isBroken = true }
    }
}

// MARK: - COPY

extension Session {
    /// Starts a COPY from the client.
    func beginCopyIn(_ query: Query, _ limits: Limits) throws(PostgreSQLError) {
        try beginCopy(query, PGRES_COPY_IN, limits)
    }

    /// Starts a COPY to the client.
    func beginCopyOut(_ query: Query, _ limits: Limits) throws(PostgreSQLError) {
        try beginCopy(query, PGRES_COPY_OUT, limits)
    }

    private func beginCopy(
        _ query: Query, _ expected: ExecStatusType, _ limits: Limits
    ) throws(PostgreSQLError) {
        let parameters = try BoundParameters(query.parameters)
        try send { parameters.sendQuery(connection, query.sql) }
        try flush(limits)
        let result = try nextResult(limits)
        let status = PQresultStatus(result)
        if status == expected {
            PQclear(result)
            return
        }
        let failure = status == PGRES_FATAL_ERROR ? ServerError(result) : nil
        PQclear(result)
        guard let failure else { throw abandon(.unexpectedCopy) }
        _ = try collect(limits)
        try check(failure)
    }

    func copy(_ bytes: [UInt8], _ limits: Limits) throws(PostgreSQLError) {
        // Behind an error of the server these bytes go nowhere; `endCopyIn` then reports it.
        while true {
            let taken = bytes.withUnsafeBytes { buffer in
                PQputCopyData(
                    connection, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
            }
            switch taken {
            case 1: return try flush(limits)
            case 0: try flush(limits)
            default: throw breakOff(.connectionLost)
            }
        }
    }

    /// Ends a COPY from the client: in success, or with a reason that the server puts in its error.
    func endCopyIn(failure reason: String?, _ limits: Limits) throws(PostgreSQLError) -> Int {
        while true {
            switch PQputCopyEnd(connection, reason) {
            case 1: return try collect(limits).last?.affectedRows ?? 0
            case 0: try flush(limits)
            default: throw breakOff(.connectionLost)
            }
        }
    }

    /// The next bytes of a COPY to the client, about `limit` of them; `nil` at the end.
    func copyOut(upTo limit: Int, _ limits: Limits) throws(PostgreSQLError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &row, 1)
            switch count {
            case 1...:
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
            case 0:
                guard bytes.isEmpty else { return bytes }
                _ = try wait(for: Int16(POLLIN), limits)
                receive()
                if isBroken { throw .connectionLost }
            default:
                guard bytes.isEmpty else { return bytes }
                _ = try collect(limits)
                return nil
            }
        }
        return bytes
    }
}

// MARK: - Notifications

extension Session {
    /// The notifications that have arrived, in order.
    func takeNotifications() -> [Notification] {
        var taken: [Notification] = []
        while let notification = PQnotifies(connection) {
            taken.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return taken
    }
}

/// Lends an array of C strings that ends with a null pointer.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
    let buffers = strings.map { string in
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count + 1)
        _ = buffer.initialize(from: string.utf8CString)
        return buffer
    }
    defer { for buffer in buffers { buffer.deallocate() } }
    return body(buffers.map { UnsafePointer($0.baseAddress) } + [nil])
}
