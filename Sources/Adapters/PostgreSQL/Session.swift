import CLibPQ
import Foundation

/// A connection to the server, used by one thread only.
///
/// Every call that can wait has a deadline, and ends early when its job is cancelled or the session is shut
/// down. After an error other than the server's own, `isBroken` is true and only closing is left.
final class Session {
    let connection: OpaquePointer
    private let wakeup: Wakeup
    private let isShutDown: () -> Bool
    let notices: NoticeSink
    var statements: StatementCache
    /// Nil if nothing is prepared.
    let preparation: Preparation?
    /// Whether nothing was run that may have changed the state of the session.
    var isClean = true
    /// Whether rows of a COPY follow. They stay in the system's buffer until they are needed: libpq would read all of them, and
    /// move them in memory each time.
    var isCopyingOut = false

    private(set) var isBroken = false
    /// Whether a statement is running that the server should be asked to cancel.
    private(set) var isAbandoned = false

    /// Receives the notices of one connection; libpq holds a plain pointer to it, the session keeps it alive.
    final class NoticeSink {
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
        preparation: Preparation?, isShutDown: @escaping () -> Bool
    ) {
        self.connection = connection
        self.wakeup = wakeup
        self.preparation = configuration.preparedStatements > 0 ? preparation : nil
        self.isShutDown = isShutDown
        notices = NoticeSink(handler: configuration.onNotice)
        statements = StatementCache(
            capacity: configuration.preparedStatements,
            prefix: "s\(String(UInt32.random(in: 0...(.max)), radix: 16))_")
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context else { return }
                Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().receive(ServerError(result))
            }, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit {
        PQfinish(connection)
    }

    var socket: Int32 { PQsocket(connection) }

    var transactionStatus: PGTransactionStatusType { PQtransactionStatus(connection) }
}

/// When a job must end.
struct Limits {
    let deadline: Deadline
    let cancellation: Cancellation?
}

extension Session {
    /// Waits until the socket is ready for one of the events.
    func wait(for events: Int16, _ limits: Limits) throws(PostgreSQLError) -> Int16 {
        while true {
            if isShutDown() { throw abandon(.poolClosed) }
            if limits.cancellation?.isRequested == true { throw abandon(.cancelled) }
            // Checked here, and not only after `poll`, so that a server that keeps sending cannot run for ever.
            if limits.deadline.hasPassed { throw abandon(.timeout(.statement)) }
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
        }
    }

    /// Sleeps until there is a job, and handles messages of the server meanwhile.
    ///
    /// Returns false when the time is over with nothing done.
    func sleepWhileIdle(until deadline: Deadline) -> Bool {
        var files = [
            // `poll` passes over a negative descriptor.
            pollfd(fd: isCopyingOut ? -1 : socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&files, 2, deadline.pollMilliseconds)
        if ready == 0 { return false }
        if ready > 0, files[1].revents != 0 { wakeup.drain() }
        if ready > 0, files[0].revents != 0 { receive() }
        return true
    }

    /// Reads the received data. The session is broken if the server has closed the connection.
    ///
    /// Its last messages, such as a FATAL error, can still be read.
    func receive() {
        if PQconsumeInput(connection) == 0 || PQstatus(connection) == CONNECTION_BAD { isBroken = true }
    }

    /// Whether the connection is still open, as far as this is visible without a round trip.
    func isAlive() -> Bool {
        var file = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if poll(&file, 1, 0) > 0 { receive() }
        return !isBroken
    }

    /// Abandons a statement that the server may still execute.
    func abandon(_ error: PostgreSQLError) -> PostgreSQLError {
        isAbandoned = true
        return breakOff(error)
    }

    /// Notes that nothing more can be done with this session.
    @discardableResult
    func breakOff(_ error: PostgreSQLError) -> PostgreSQLError {
        isBroken = true
        return error
    }

    /// Requests the cancellation of the current statement, on a separate connection.
    ///
    /// `PQcancel` blocks without a deadline. The thread that calls this has no other work.
    func requestCancel() {
        guard let cancel = PQgetCancel(connection) else { return }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(cancel, message.baseAddress, Int32(message.count))
        }
        PQfreeCancel(cancel)
    }
}
