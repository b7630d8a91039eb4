import Foundation

/// The server of one directory. It is controlled by PostgreSQL's own programs. The caller must hold the directory's lock.
struct Cluster: Sendable {
    private let place: ServerAddress
    private let account: ServerAccount
    private let binaries: ServerBinaries
    private let socketDirectory: String

    private static let startTimeout = 60

    init(place: ServerAddress) throws(EmbeddedServerError) {
        self.place = place
        account = try ServerAccount(directory: place.directory)
        let version = try? String(contentsOfFile: "\(place.data)/PG_VERSION", encoding: .utf8)
        binaries = try ServerBinaries.find(
            for: version.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
        socketDirectory = try place.socketDirectory(for: account)
    }

    var conninfo: String {
        let host = socketDirectory.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(host)' port=5432 user=postgres dbname=postgres"
    }

    func ensureRunning(_ options: EmbeddedServerOptions) throws(EmbeddedServerError) {
        try initialize()
        // A running server may be about to stop.
        while try isRunning() { if try isReady() { return } }
        try configure(options)
        let start = try control(["start", "-w", "-t", "\(Self.startTimeout)", "-l", "log"])
        guard start.status == 0 else {
            throw .failed(program: "pg_ctl start", output: "\(start.text)\n\(logTail)")
        }
    }

    /// Stops the server immediately. Sessions end, and committed data is kept.
    func stop() throws(EmbeddedServerError) {
        guard try control(["status"]).status == 0 else { return }
        let stop = try control(["stop", "-w", "-m", "fast"])
        guard stop.status == 0 else { throw .failed(program: "pg_ctl stop", output: stop.text) }
        if socketDirectory != place.directory { rmdir(socketDirectory) }
    }

    // MARK: - Steps

    /// Makes the cluster under a temporary name, so that an interrupted attempt is never mistaken for a complete cluster.
    private func initialize() throws(EmbeddedServerError) {
        guard access("\(place.data)/PG_VERSION", F_OK) != 0 else { return }
        try? FileManager.default.removeItem(atPath: place.unfinishedData)
        let arguments = [
            "-D", place.unfinishedData, "--username=postgres", "--auth=trust", "--encoding=UTF8",
            "--data-checksums", "--no-instructions",
        ]
        // Not every system has C.UTF-8. C sorts in the same order.
        let first = try account.command(binaries.path("initdb"), arguments + ["--locale=C.UTF-8"]).run()
        if first.status != 0 {
            try? FileManager.default.removeItem(atPath: place.unfinishedData)
            try account.command(binaries.path("initdb"), arguments + ["--locale=C"]).runSuccessfully()
        }
        guard rename(place.unfinishedData, place.data) == 0 else {
            throw .directory(place.data, reason: String(cString: strerror(errno)))
        }
    }

    /// Writes the whole of `postgresql.conf`. Settings that are missing in it have PostgreSQL's defaults.
    private func configure(_ options: EmbeddedServerOptions) throws(EmbeddedServerError) {
        var settings = [
            "listen_addresses": "",
            "unix_socket_directories": "\"\(socketDirectory.replacing("\"", with: "\"\""))\"",
            "unix_socket_permissions": "0700",
            "port": "5432",
            "max_connections": "200",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "lc_messages": "C",
        ]
        if !options.isDurable {
            settings.merge(
                ["fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"]
            ) { _, new in new }
        }
        settings.merge(options.settings) { _, new in new }
        let lines = settings.sorted { $0.key < $1.key }.map { name, value in
            "\(name) = '\(value.replacing("\\", with: "\\\\").replacing("'", with: "''"))'\n"
        }
        guard AccountFile.replace("postgresql.conf", in: place.data, with: lines.joined()) else {
            throw .directory(place.data, reason: "postgresql.conf cannot be written")
        }
    }

    /// A process number that no process has: above the largest the kernel gives.
    private static let nobody = "2147483646"

    /// Removes the record of a server that has ended, if its process number belongs to another program now, as after a
    /// container's restart, or to an unreaped child: PostgreSQL would take either for a running server.
    ///
    /// Only the number is replaced. The rest of the file shows the next server whether sessions of the dead one still use its
    /// memory; then it must not start.
    private func releaseStaleLocks() {
        for (directory, name) in [(place.data, "postmaster.pid"), (socketDirectory, ".s.PGSQL.5432.lock")] {
            guard let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8) else {
                continue
            }
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard let process = pid_t(lines[0]), process > 0, isForeign(process) else { continue }
            lines[0] = Self.nobody[...]
            _ = AccountFile.replace(name, in: directory, with: lines.joined(separator: "\n"))
        }
    }

    /// Whether an existing process is not the server. A server works in its data directory. If the working directory of a process
    /// is not readable, its name decides.
    private func isForeign(_ process: pid_t) -> Bool {
        guard let command = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else {
            return false
        }
        var (working, data) = (stat(), stat())
        if stat("/proc/\(process)/cwd", &working) == 0, stat(place.data, &data) == 0 {
            return (working.st_dev, working.st_ino) != (data.st_dev, data.st_ino)
        }
        let program = String(decoding: command.prefix { $0 != 0 }, as: UTF8.self)
        return process == getpid() || program.split(separator: "/").last != "postgres"
    }

    private func isRunning() throws(EmbeddedServerError) -> Bool {
        releaseStaleLocks()
        return try control(["status"]).status == 0
    }

    /// Waits until the server accepts sessions; false if it has ended.
    private func isReady() throws(EmbeddedServerError) -> Bool {
        let deadline = ContinuousClock.now + .seconds(Self.startTimeout)
        var outcome: Command.Outcome
        repeat {
            outcome = try account.command(
                binaries.path("pg_isready"), ["-h", socketDirectory, "-p", "5432", "-t", "1"]
            ).run()
            if outcome.status == 0 { return true }
            if try !isRunning() { return false }
            Thread.sleep(forTimeInterval: 0.1)
        } while ContinuousClock.now < deadline
        throw .failed(program: "pg_isready", output: "\(outcome.text)\n\(logTail)")
    }

    private func control(_ arguments: [String]) throws(EmbeddedServerError) -> Command.Outcome {
        // `pg_ctl` passes its paths to a shell between double quotes. Relative paths contain no special characters.
        var command = account.command(binaries.path("pg_ctl"), arguments + ["-s", "-D", "data"])
        command.directory = place.directory
        return try command.run()
    }

    private var logTail: String {
        let log = (try? String(contentsOfFile: place.log, encoding: .utf8)) ?? ""
        return log.split(whereSeparator: \.isNewline).suffix(5).joined(separator: "\n")
    }
}
