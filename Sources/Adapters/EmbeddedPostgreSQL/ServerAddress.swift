import Foundation

/// The files of an embedded server.
struct ServerAddress: Sendable {
    let directory: String

    var data: String { "\(directory)/data" }
    var unfinishedData: String { "\(directory)/data.unfinished" }
    var log: String { "\(directory)/log" }
    var lock: String { "\(directory)/lock" }
    var users: String { "\(directory)/users" }

    /// Creates a missing directory. Gives access to the owner alone.
    ///
    /// An existing directory must be empty or contain an embedded server. An empty directory may belong to any owner, because a
    /// mounted volume does. But it must not be a directory that accounts share, such as `/tmp`.
    ///
    ///
    /// Throws `foreignDirectory` for any other directory, and does not change it.
    init(directory: String) throws(EmbeddedServerError) {
        let named = URL(fileURLWithPath: directory).standardizedFileURL.path
        do {
            try FileManager.default.createDirectory(
                atPath: named, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .directory(named, reason: "it cannot be made")
        }
        // A directory must have one name only, because the socket's path may be made from it.
        guard let resolved = realpath(named, nil) else {
            throw .directory(named, reason: String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        self.directory = String(cString: resolved)
        guard let contents = try? FileManager.default.contentsOfDirectory(atPath: self.directory) else {
            throw .directory(named, reason: "it cannot be read")
        }
        guard contents.isEmpty ? !isShared : holdsServer(contents) else { throw .foreignDirectory(named) }
        guard chmod(self.directory, 0o700) == 0 else {
            throw .directory(named, reason: String(cString: strerror(errno)))
        }
    }

    private static let names: Set = [
        "data", "data.unfinished", "lock", "log", "users", ".s.PGSQL.5432", ".s.PGSQL.5432.lock",
    ]

    /// Many programs have a file named `lock`. Ours is empty, and only our own files are beside it.
    private func holdsServer(_ contents: [String]) -> Bool {
        var status = stat()
        return Self.names.isSuperset(of: contents) && lstat(lock, &status) == 0
            && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Whether every account may create files there that other accounts may not remove.
    private var isShared: Bool {
        var status = stat()
        return stat(directory, &status) != 0 || status.st_mode & S_ISVTX != 0
    }

    /// The folder of the socket: the directory itself, or a folder below `/tmp` if the directory's path is too long for the
    /// kernel, or if a connection string would split it.
    func socketDirectory(for account: ServerAccount) throws(EmbeddedServerError) -> String {
        // `sun_path` has 108 bytes, the last of them zero.
        if directory.utf8.count + "/.s.PGSQL.5432".utf8.count <= 107, !directory.contains(",") {
            return directory
        }
        let path = "/tmp/postgresql-\(String(Self.hash(directory), radix: 16))-\(account.user)"
        if mkdir(path, 0o700) == 0 { account.own(path) }
        // Every user can create files in /tmp, so only a directory that no other user could have created is accepted.
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == account.user,
            status.st_mode & 0o077 == 0
        else {
            throw .directory(path, reason: "it belongs to somebody else")
        }
        return path
    }

    /// FNV-1a: short, and the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
    }
}
