import Foundation

/// The files of a private server.
struct ServerPlace: Sendable {
    let directory: String

    var data: String { "\(directory)/data" }
    var unfinishedData: String { "\(directory)/data.unfinished" }
    var log: String { "\(directory)/log" }
    var lock: String { "\(directory)/lock" }
    var users: String { "\(directory)/users" }

    /// Makes the directory, open to its owner alone, unless it is there.
    ///
    /// Throws `foreignDirectory` for one that holds anything but a private server.
    init(directory: String) throws(PrivateServerError) {
        self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        do {
            try FileManager.default.createDirectory(
                atPath: self.directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let contents = try FileManager.default.contentsOfDirectory(atPath: self.directory)
            guard contents.isEmpty || contents.contains("lock") else {
                throw PrivateServerError.foreignDirectory(self.directory)
            }
        } catch let error as PrivateServerError {
            throw error
        } catch {
            throw .directory(self.directory, reason: "it cannot be made or read")
        }
        guard chmod(self.directory, 0o700) == 0 else {
            throw .directory(self.directory, reason: String(cString: strerror(errno)))
        }
    }

    /// Where the socket is: the directory itself, or one below `/tmp` when its path is too long for the
    /// kernel, or would be taken apart in a connection string.
    func socketDirectory(for account: ServerAccount) throws(PrivateServerError) -> String {
        // `sun_path` has 108 bytes, the last of them zero.
        if directory.utf8.count + "/.s.PGSQL.5432".utf8.count <= 107, !directory.contains(",") {
            return directory
        }
        let path = "/tmp/postgresql-\(String(Self.hash(directory), radix: 16))-\(account.user)"
        if mkdir(path, 0o700) == 0 { account.own(path) }
        // Anyone can make files in /tmp: only a directory that nobody else could have made will do.
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
