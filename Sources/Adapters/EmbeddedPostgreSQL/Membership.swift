import Synchronization

/// The membership of one process in an embedded server.
final class Membership: Sendable {
    private struct State: Sendable {
        let cluster: Cluster
        let lock: FileLock
        let users: FileLock
    }

    private let state: Mutex<State?>

    init(cluster: Cluster, lock: FileLock, users: FileLock) {
        state = Mutex(State(cluster: cluster, lock: lock, users: users))
    }

    func leave() throws(EmbeddedServerError) {
        let state = self.state.withLock { state in
            defer { state = nil }
            return state
        }
        guard let state else { return }
        state.lock.lockAlone()
        defer { state.lock.unlock() }
        // No process joins while `lock` is held, so the process that gets `users` exclusively is the last.
        let isLast = state.users.tryLockAlone()
        defer { state.users.unlock() }
        if isLast { try state.cluster.stop() }
    }
}
