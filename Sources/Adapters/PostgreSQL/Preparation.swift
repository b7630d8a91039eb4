import Synchronization

/// Whether a pool's connections prepare their statements. All do, until one of them finds that a prepared statement is missing.
///
/// Then the pool is behind a pooler that assigns each transaction any free session of the server and does not prepare there:
/// PgBouncer before 1.21, or a later one with `max_prepared_statements = 0`. Source: PgBouncer, "Config",
/// `max_prepared_statements`.
final class Preparation: Sendable {
    private let isOff = Atomic(false)
    private let onGivenUp: @Sendable () -> Void

    init(onGivenUp: @escaping @Sendable () -> Void) {
        self.onGivenUp = onGivenUp
    }

    var isGivenUp: Bool { isOff.load(ordering: .relaxed) }

    /// Stops preparing on all connections of the pool.
    func giveUp() {
        if !isOff.exchange(true, ordering: .relaxed) { onGivenUp() }
    }
}
