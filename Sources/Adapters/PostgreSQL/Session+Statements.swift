import CLibPQ
import Foundation

extension Session {
    /// Executes a statement with its values, prepared if that is worth it.
    func execute(_ query: Query, _ limits: Limits) throws(PostgreSQLError) -> QueryResult {
        let parameters = try BoundParameters(query.parameters)
        guard transactionStatus != PQTRANS_ACTIVE else { throw .notSent }
        isClean = false
        let wasIdle = transactionStatus == PQTRANS_IDLE
        do throws(PostgreSQLError) {
            return try run(query, parameters, limits)
        } catch .server(let error) where error.isMissingStatement || error.isStalePlan {
            // A pooler or a schema change took the prepared statement away.
            if error.isMissingStatement { preparation?.giveUp() }
            guard wasIdle else { throw .server(error) }
            // Nothing was done, and no transaction has failed by it: once more.
            return try run(query, parameters, limits)
        }
    }

    private func run(
        _ query: Query, _ parameters: BoundParameters, _ limits: Limits
    ) throws(PostgreSQLError) -> QueryResult {
        let isWhole = transactionStatus == PQTRANS_IDLE
        let key = StatementCache.Key(sql: query.sql, types: parameters.types)
        // In a failed transaction, statements can neither be prepared nor deallocated.
        let isPreparable =
            query.isPreparable && preparation?.isGivenUp == false && transactionStatus != PQTRANS_INERROR
        switch isPreparable ? statements.step(for: key) : .runUnprepared {
        case .runUnprepared:
            try checkText(query.sql)
            try send { parameters.sendQuery(connection, query.sql) }
        case .execute(let name):
            do throws(PostgreSQLError) {
                try send { parameters.sendPrepared(connection, name) }
                return try collectOne(limits, isWhole: isWhole)
            } catch {
                if case .server(let report) = error, report.isMissingStatement || report.isStalePlan {
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
        return try collectOne(limits, isWhole: isWhole)
    }

    /// Runs statements separated by semicolons, without values; returns the last one's result.
    func runScript(_ sql: String, _ limits: Limits) throws(PostgreSQLError) -> QueryResult? {
        try checkText(sql)
        try send { PQsendQuery(connection, sql) }
        return try collect(limits).last
    }

    /// Runs a user's statements separated by semicolons, without values.
    func execute(script: String, _ limits: Limits) throws(PostgreSQLError) {
        isClean = false
        guard transactionStatus == PQTRANS_IDLE else {
            _ = try runScript(script, limits)
            return
        }
        try checkText(script)
        try send { PQsendQuery(connection, script) }
        _ = try collectWhole(limits)
    }

    /// libpq would run the part before a zero byte.
    func checkText(_ sql: String) throws(PostgreSQLError) {
        guard !sql.utf8.contains(0) else { throw .encoding(reason: "a statement with a zero byte") }
    }

    func send(_ call: () -> Int32) throws(PostgreSQLError) {
        guard call() == 1 else { throw refused(.notSent) }
    }

    /// The meaning of a refusal by libpq: the connection is lost, or the call was out of order.
    func refused(_ error: PostgreSQLError) -> PostgreSQLError {
        PQstatus(connection) == CONNECTION_OK ? error : breakOff(.connectionLost)
    }

    func flush(_ limits: Limits) throws(PostgreSQLError) {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                // The server may be unable to read before its own data is read.
                let ready = try wait(for: Int16(POLLIN | POLLOUT), limits)
                if Int32(ready) & POLLIN != 0 { receive() }
            default: throw breakOff(.connectionLost)
            }
        }
    }

    func nextResult(_ limits: Limits) throws(PostgreSQLError) -> OpaquePointer? {
        while PQisBusy(connection) == 1, !isBroken {
            _ = try wait(for: Int16(POLLIN), limits)
            receive()
        }
        return PQgetResult(connection)
    }

    private func collectOne(_ limits: Limits, isWhole: Bool) throws(PostgreSQLError) -> QueryResult {
        guard let result = try isWhole ? collectWhole(limits).last : collect(limits).last else {
            throw breakOff(isWhole ? .outcomeUnknown : .connectionLost)
        }
        return result
    }

    /// Reads the results of statements outside any transaction, which are thereby committed.
    private func collectWhole(_ limits: Limits) throws(PostgreSQLError) -> [QueryResult] {
        notices.commitIsLocalOnly = false
        let results: [QueryResult]
        do throws(PostgreSQLError) {
            results = try collect(limits)
        } catch .connectionLost {
            throw .outcomeUnknown
        }
        if notices.commitIsLocalOnly { throw .outcomeUnknown }
        return results
    }

    /// Reads all results of the sent statements; throws the first error among them.
    func collect(_ limits: Limits) throws(PostgreSQLError) -> [QueryResult] {
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

    func check(_ failure: ServerError?) throws(PostgreSQLError) {
        if isBroken || PQstatus(connection) == CONNECTION_BAD { throw breakOff(.connectionLost) }
        if let failure { throw .server(failure) }
    }
}
