/// A transaction under way.
///
/// Usable until the closure returns. Statements run one after another; after a failed one the server refuses the rest, unless
/// it was inside a savepoint.
public struct Transaction: Sendable {
    let lease: Lease

    @discardableResult
    public func execute(_ query: Query) async throws(PostgreSQLError) -> QueryResult {
        try await lease.execute(query)
    }

    /// Runs statements separated by semicolons, without values.
    public func execute(script: String) async throws(PostgreSQLError) {
        try await lease.execute(script: script)
    }

    /// Runs a closure; if it throws, its changes are undone and the transaction continues.
    @discardableResult
    public nonisolated(nonsending) func withSavepoint<R: Sendable>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        try await lease.execute(script: "SAVEPOINT s")
        do {
            let result = try await body()
            try await lease.execute(script: "RELEASE SAVEPOINT s")
            return result
        } catch {
            // Without cancellation: the transaction may continue although the closure could not. If it cannot, its next
            // statement or its end throws; the error here is the cause.
            _ = try? await lease.perform(isCancellable: false) { session, limits throws(PostgreSQLError) in
                _ = try session.runScript("ROLLBACK TO SAVEPOINT s; RELEASE SAVEPOINT s", limits)
            }
            throw error
        }
    }

    /// Sends rows to a table by `COPY … FROM STDIN`; returns how many.
    ///
    /// When the closure throws nothing is copied, and the transaction has failed.
    @discardableResult
    public nonisolated(nonsending) func copyIn(
        _ statement: Query, _ body: nonisolated(nonsending) (CopyWriter) async throws -> Void
    ) async throws -> Int {
        let lease = lease
        try await lease.perform { session, limits throws(PostgreSQLError) in
            try session.beginCopyIn(statement, limits)
        }
        do {
            let writer = CopyWriter(lease: lease)
            try await body(writer)
            try await writer.flush()
        } catch {
            _ = try? await lease.perform(isCancellable: false) { session, limits throws(PostgreSQLError) in
                try session.endCopyIn(failure: "cancelled by the client", limits)
            }
            throw error
        }
        return try await lease.perform { session, limits throws(PostgreSQLError) in
            try session.endCopyIn(failure: nil, limits)
        }
    }

    /// Receives rows by `COPY … TO STDOUT`, some 128 KiB of whole rows at a time.
    ///
    /// If the closure throws, the connection is closed: the server cannot be told to stop in between.
    public nonisolated(nonsending) func copyOut(
        _ statement: Query, _ body: nonisolated(nonsending) ([UInt8]) async throws -> Void
    ) async throws {
        let lease = lease
        try await lease.perform { session, limits throws(PostgreSQLError) in
            try session.beginCopyOut(statement, limits)
        }
        var piece = try await Self.nextPiece(lease)
        while let bytes = piece {
            // The next data arrives while the closure works on this.
            async let next = Self.nextPiece(lease)
            try await body(bytes)
            piece = try await next
        }
    }

    private static func nextPiece(_ lease: Lease) async throws(PostgreSQLError) -> [UInt8]? {
        try await lease.perform { session, limits throws(PostgreSQLError) in
            try session.copyOut(upTo: 131_072, limits)
        }
    }
}
