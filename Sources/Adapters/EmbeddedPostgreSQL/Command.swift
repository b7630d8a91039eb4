import Foundation

/// Runs a program and waits for its end.
///
///
/// Foundation's `Process` is not used: it waits until every process that inherited its socket has ended. That never happens if
/// the program leaves a server running, as `pg_ctl start` does.
struct Command {
    var path: String
    var arguments: [String]
    var directory = "/"
    /// After this number of seconds the program is killed. `pg_ctl` itself waits less.
    var timeout = 120
    /// The name in errors, if another program runs the command.
    var alias: String?

    private var name: String { URL(fileURLWithPath: alias ?? path).lastPathComponent }

    struct Outcome {
        let status: Int32
        /// The text of standard output and standard error.
        let text: String
    }

    /// Runs the program, and throws an error unless its status is 0.
    @discardableResult
    func runSuccessfully() throws(EmbeddedServerError) -> String {
        let outcome = try run()
        guard outcome.status == 0 else {
            throw .failed(program: name, output: outcome.text)
        }
        return outcome.text
    }

    /// Runs the program in its own process group, so that Ctrl-C at the terminal does not reach it. It inherits no open file,
    /// and only a small environment without the caller's `PG…` variables.
    func run() throws(EmbeddedServerError) -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        var process = pid_t()
        let failed = spawn(&process, output: ends[1])
        close(ends[1])
        guard failed == 0 else { throw failure(failed) }

        let data = read(output.fileDescriptor)
        // The process is the leader of its group.
        if data == nil { kill(-process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw failure(errno) }
        }
        guard let data else {
            throw .failed(program: name, output: "it did not end within \(timeout) seconds")
        }
        return Outcome(
            status: Self.shellStatus(status),
            text: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The exit status, or as in a shell 128 and the signal.
    static func shellStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// Reads to the end; nil if the end does not come in time.
    private func read(_ descriptor: Int32) -> Data? {
        let deadline = ContinuousClock.now + .seconds(timeout)
        var data = Data()
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0 else { return nil }
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32(left) + 1) > 0 else { continue }
            let count = Foundation.read(descriptor, &bytes, bytes.count)
            if count > 0 {
                data.append(contentsOf: bytes.prefix(count))
            } else if count == 0 || errno != EINTR {
                return data
            }
        }
    }

    private func failure(_ number: Int32) -> EmbeddedServerError {
        .failed(program: name, output: String(cString: strerror(number)))
    }

    private func spawn(_ process: inout pid_t, output: Int32) -> Int32 {
        #if canImport(Darwin)
            var files: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
            let closeAll = POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            var files = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
            let closeAll: Int32 = 0
        #endif
        posix_spawn_file_actions_init(&files)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&files)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, output, 1)
        posix_spawn_file_actions_adddup2(&files, output, 2)
        #if !canImport(Darwin)
            // These descriptors were opened without O_CLOEXEC, or another thread opens them before the child exists. A server that
            // is
            // left running would keep them open. Closing a descriptor that is not open is not an error here.
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let highest = open.compactMap { Int32($0) }.max() ?? 2
            for file in 3...highest + 1_000 { posix_spawn_file_actions_addclose(&files, file) }
        #endif

        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(Int32(flags) | closeAll))

        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        // The shell only changes the directory. The account may have no access to the caller's directory.
        let words = ["/bin/sh", "-c", #"cd -- "$0" && exec "$@""#, directory, path] + arguments
        var pointers = words.map { strdup($0) }
        var environment = ["LC_ALL=C", "PATH=\(search)"].map { (text: String) in strdup(text) }
        defer { for pointer in pointers + environment { free(pointer) } }
        pointers.append(nil)
        environment.append(nil)
        return posix_spawn(&process, "/bin/sh", &files, &attributes, pointers, environment)
    }
}
