import Foundation

/// A PostgreSQL server in a directory. All processes that name the directory share the server.
///
/// It listens on a Unix socket that only the directory's owner can reach, and trusts every client there. The first process
/// starts it, others join it, and the last one to leave stops it. A server whose starter was killed runs until the next process
/// that joins it has left.
///
///     DIR/data   the cluster          DIR/lock    held while a process joins or leaves
///     DIR/log    the server's log     DIR/users   held, shared, by every process that has joined
public struct EmbeddedServer: Sendable {
    /// A libpq connection string for the database `postgres`, as superuser.
    public let conninfo: String

    private let membership: Membership

    /// Starts the server in a directory, or joins the one that runs there.
    ///
    /// A missing directory is created. PostgreSQL does not run as root. For root, the directory is given to the account
    /// `postgres`, which runs the server. The first start takes some seconds.
    ///
    /// Removes libpq's variables, such as `PGHOSTADDR` and `PGSERVICE`, from the process's environment. With them,
    /// `conninfo` would lead to another server.
    public static func startOrJoin(
        directory: String, options: EmbeddedServerOptions = EmbeddedServerOptions()
    ) async throws(EmbeddedServerError) -> EmbeddedServer {
        LibpqEnvironment.clear()
        let result: Result<EmbeddedServer, EmbeddedServerError> = await withCheckedContinuation {
            continuation in
            // Runs on a thread because it waits for locks and programs.
            let thread = Thread {
                continuation.resume(
                    returning: Result { () throws(EmbeddedServerError) in
                        try EmbeddedServer(directory: directory, options: options)
                    })
            }
            thread.start()
        }
        return try result.get()
    }

    private init(directory: String, options: EmbeddedServerOptions) throws(EmbeddedServerError) {
        let place = try ServerAddress(directory: directory)
        let lock = try FileLock(path: place.lock)
        lock.lockAlone()
        defer { lock.unlock() }
        let cluster = try Cluster(place: place)
        try cluster.ensureRunning(options)
        let users = try FileLock(path: place.users)
        users.lockShared()
        membership = Membership(cluster: cluster, lock: lock, users: users)
        conninfo = cluster.conninfo
    }

    /// Leaves the server, and stops it if no other process uses it; waits until it has stopped. Further calls do nothing.
    public func leave() throws {
        try membership.leave()
    }
}
