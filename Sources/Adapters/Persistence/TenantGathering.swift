import PostgreSQL
import Synchronization
import Tenancy

/// Gathers in memory what is to be written of each tenant, and writes it some seconds later, as `doorstep_app`.
///
/// What is not written when the process is killed is lost; what was written while the connection broke may be written twice.
final class TenantGathering<Batch: Sendable>: Sendable {
    private let waiting = Mutex<[TenantID: Batch]>([:])
    private let pool: ConnectionPool
    private let interval: Duration
    private let merge: @Sendable (Batch, Batch) -> Batch
    private let write: @Sendable (Batch, TenantTransaction) async throws -> Void
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - interval: How long it is gathered before it is written.
    ///   - merge: Makes one of two, of which neither is written.
    ///   - write: Writes one in a transaction of its tenant.
    init(
        _ pool: ConnectionPool, interval: Duration, onFailure: @escaping @Sendable (any Error) -> Void,
        merge: @escaping @Sendable (Batch, Batch) -> Batch,
        write: @escaping @Sendable (Batch, TenantTransaction) async throws -> Void
    ) {
        self.pool = pool
        self.interval = interval
        self.onFailure = onFailure
        self.merge = merge
        self.write = write
    }

    /// Changes what waits for a tenant.
    /// - Parameter empty: What that is where nothing waits.
    func gather(for tenant: TenantID, in empty: Batch, _ change: (inout Batch) -> Void) {
        waiting.withLock { change(&$0[tenant, default: empty]) }
    }

    /// Writes what was gathered, again and again until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: interval) } catch { return }
            await flush()
        }
    }

    /// Writes what was gathered; what cannot be written waits for the next time, and so does all that is left when the
    /// database does not answer: waiting for it once for each tenant would take minutes.
    func flush() async {
        var rest = waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
        while let (tenant, batch) = rest.popFirst() {
            do {
                try await pool.withTenantTransaction(tenant, as: .app) { try await write(batch, $0) }
            } catch {
                onFailure(error)
                let response = error as? PostgreSQLError
                // What it is of is gone: no repetition will help.
                if response?.isForeignKeyViolation() != true { keep([tenant: batch]) }
                guard response?.sqlState != nil else { return keep(rest) }
            }
        }
    }

    private func keep(_ unwritten: [TenantID: Batch]) {
        waiting.withLock { $0.merge(unwritten, uniquingKeysWith: merge) }
    }
}
