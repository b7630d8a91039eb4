/// A connection leased from a pool, outside any transaction.
///
/// Usable until the closure returns. Statements run one after another. Changes of the session's state, such as settings and
/// locks, last until then.
public struct Connection: Sendable {
    let lease: Lease

    /// Executes a statement in its own transaction.
    ///
    /// After `outcomeUnknown`, `timeout(.statement)`, `cancelled` or `poolClosed` the statement may have been
    /// done or not; after `connectionLost` it was not.
    @discardableResult
    public func execute(_ query: Query) async throws(PostgreSQLError) -> QueryResult {
        try await lease.execute(query)
    }

    /// Executes statements separated by semicolons, without values. They form one transaction unless they control transactions
    /// themselves.
    public func execute(script: String) async throws(PostgreSQLError) {
        try await lease.execute(script: script)
    }
}
