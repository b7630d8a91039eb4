import CLibPQ

extension Session {
    func begin(_ mode: TransactionMode, _ limits: Limits) throws(PostgreSQLError) {
        _ = try runScript(mode.beginStatement, limits)
        isClean = false
    }

    /// Commits, and returns only if the server confirmed it.
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
            breakOff(error)
        }
        settle()
    }

    /// Resets the session like `DISCARD ALL`, but keeps the prepared statements.
    ///
    /// Does nothing if no statement was executed since the last reset.
    func clean(_ limits: Limits) throws(PostgreSQLError) {
        guard !isClean else { return }
        _ = try runScript(
            """
            \(TransactionMode.resetSettings); CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();
            DISCARD TEMP; DISCARD SEQUENCES
            """, limits)
        isClean = true
    }

    /// Makes sure that nothing is left open before the next user comes.
    func settle() {
        if transactionStatus != PQTRANS_IDLE { breakOff(.transactionEnded) }
    }
}
