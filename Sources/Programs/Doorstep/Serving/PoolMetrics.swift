import Metrics
import PostgreSQL
import Synchronization

/// Metrics of a pool of connections to the database.
final class PoolMetrics: Sendable {
    private let pool: ConnectionPool
    private let idle, busy, connecting, waiting: Meter
    private let waits: Counter
    private let waitSeconds: FloatingPointCounter
    private let counted = Mutex(PoolWaits())

    init(_ name: String, _ pool: ConnectionPool) {
        self.pool = pool
        func connections(_ state: String) -> Meter {
            Meter(
                label: "doorstep_database_pool_connections", dimensions: [("pool", name), ("state", state)])
        }
        (idle, busy, connecting) = (connections("idle"), connections("in_use"), connections("connecting"))
        let dimensions = [("pool", name)]
        waiting = Meter(label: "doorstep_database_pool_waiting", dimensions: dimensions)
        waits = Counter(label: "doorstep_database_pool_waits", dimensions: dimensions)
        waitSeconds = FloatingPointCounter(
            label: "doorstep_database_pool_wait_seconds", dimensions: dimensions)
        Meter(label: "doorstep_database_pool_limit", dimensions: dimensions)
            .set(pool.configuration.maximumConnections)
    }

    func update() {
        let statistics = pool.statistics
        idle.set(statistics.idle)
        busy.set(statistics.busy)
        connecting.set(statistics.connecting)
        waiting.set(statistics.waiting)
        counted.withLock { counted in
            let all = pool.waits
            waits.increment(by: all.count - counted.count)
            waitSeconds.increment(by: (all.duration - counted.duration) / .seconds(1))
            counted = all
        }
    }
}
