import PostgreSQL
import Synchronization
import Tenancy

/// Collects data in memory, and writes it some seconds later.
public protocol GatheringQueue: Sendable {
    /// Writes the data repeatedly until the task is cancelled.
    func run() async
    /// Writes the data. Data that cannot be written stays for the next call.
    func flush() async
}

/// Collects data of each tenant in memory, and writes it some seconds later, as `doorstep_app`.
///
/// If the process is killed, unwritten data is lost. If the connection breaks during a write, data may be written twice.
final class TenantGathering<Batch: Sendable>: Sendable {
    private let waiting = Mutex<[TenantID: Batch]>([:])
    private let pool: ConnectionPool
    private let interval: Duration
    private let merge: @Sendable (Batch, Batch) -> Batch
    private let write: @Sendable (Batch, TenantTransaction) async throws -> Void
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - interval: The time for which data is collected before it is written.
    ///   - merge: Combines two unwritten batches.
    ///   - write: Writes a batch in a transaction of its tenant.
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

    /// Changes the waiting data of a tenant.
    /// - Parameter empty: The value without data.
    func gather(for tenant: TenantID, in empty: Batch, _ change: (inout Batch) -> Void) {
        waiting.withLock { change(&$0[tenant, default: empty]) }
    }

    /// Writes the collected data repeatedly until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: interval) } catch { return }
            await flush()
        }
    }

    /// Writes the collected data. If the database does not respond, all remaining data stays for the next call, because one timeout
    /// per tenant would take minutes.
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
                // The item was deleted, so that a repetition cannot succeed.
                if response?.isForeignKeyViolation() != true { keep([tenant: batch]) }
                guard response?.sqlState != nil else { return keep(rest) }
            }
        }
    }

    private func keep(_ unwritten: [TenantID: Batch]) {
        waiting.withLock { $0.merge(unwritten, uniquingKeysWith: merge) }
    }
}
