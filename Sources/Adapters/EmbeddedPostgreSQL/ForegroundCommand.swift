import Foundation
import Synchronization

/// A command that takes this process's place at the terminal: it has its terminal, input and output.
///
/// Foundation's `Process` is not used: it puts the command into another process group. There the command gets no Ctrl-C, and
/// cannot read the terminal.
public final class ForegroundCommand: Sendable {
    private enum State: Sendable {
        case waiting
        case running(pid_t)
        /// The command has ended, or must not be run any more.
        case over(status: Int32)
    }

    private let words: [String]
    private let state = Mutex(State.waiting)

    /// - Parameter words: a program, found on PATH, and its arguments.
    public init(_ words: [String]) {
        self.words = words
    }

    /// Sends a signal to the command. If the command is not running yet, it will not be run.
    public func send(_ signal: Int32) {
        state.withLock { state in
            switch state {
            case .waiting: state = .over(status: 128 + signal)
            case .running(let process):
                // Ctrl-C at the terminal goes to the whole foreground group, so the command already got this signal.
                if signal != SIGINT || !Self.isInForeground { kill(process, signal) }
            case .over: break
            }
        }
    }

    /// Runs the command with this process's environment and the variables given, and waits until it has ended.
    /// - Returns: The command's status, or as in a shell: 128 and the signal that ended it, 127 if the program does not exist,
    ///   126 if it cannot be run.
    public func run(environment: [String: String]) async throws(EmbeddedServerError) -> Int32 {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        guard let program = Self.find(words.first ?? "", in: environment["PATH"] ?? "/usr/bin:/bin") else {
            return giveUp()
        }
        let words = [program] + words.dropFirst()
        let started = state.withLock { state in
            guard case .waiting = state else { return Int32(0) }
            var process = pid_t()
            let failure = Self.spawn(&process, words, environment)
            state = failure == 0 ? .running(process) : .over(status: 126)
            return failure
        }
        guard started == 0 else {
            throw .failed(program: words.first ?? "env", output: String(cString: strerror(started)))
        }
        return await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: self.wait()) }.start()
        }
    }

    /// Finds a program as a shell does: the first executable of that name in the folders of PATH; otherwise the first file. Folders
    /// that may not be searched are skipped; `env` would report that the program may not be run.
    /// - Returns: Nil if there is none. A name with a slash is returned unchanged: `env` judges it.
    static func find(_ name: String, in search: String) -> String? {
        guard !name.isEmpty, !name.contains("/"), !name.contains("=") else { return name }
        var file: String?
        for folder in search.split(separator: ":", omittingEmptySubsequences: false) {
            let path = "\(folder.isEmpty ? "." : folder)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            // `env` reads a word with an equals sign as a variable.
            let found = path.contains("=") ? name : path
            if access(path, X_OK) == 0 { return found }
            file = file ?? found
        }
        return file
    }

    /// Ends the command because its program does not exist.
    private func giveUp() -> Int32 {
        let (status, isFirst): (Int32, Bool) = state.withLock { state in
            if case .over(let status) = state { return (status, false) }
            state = .over(status: 127)
            return (127, true)
        }
        if isFirst, let name = words.first {
            FileHandle.standardError.write(Data("\(name): command not found\n".utf8))
        }
        return status
    }

    private func wait() -> Int32 {
        if case .running(let process) = state.withLock({ $0 }) {
            // The process is not reaped yet. Until the state shows its end, no other process can have its number.
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        }
        return state.withLock { state in
            switch state {
            case .waiting: return 0
            case .over(let status): return status
            case .running(let process):
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                let ended = Command.shellStatus(status)
                state = .over(status: ended)
                return ended
            }
        }
    }

    private static var isInForeground: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        return tcgetpgrp(terminal) == getpgrp()
    }

    private static func spawn(
        _ process: inout pid_t, _ words: [String], _ environment: [String: String]
    ) -> Int32 {
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process traps these signals. The command gets their original handling.
        var (none, trapped) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&trapped)
        sigaddset(&trapped, SIGINT)
        sigaddset(&trapped, SIGTERM)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &trapped)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments = (["env", "--"] + words).map { strdup($0) }
        var environment = environment.map { name, value in strdup("\(name)=\(value)") }
        defer { for pointer in arguments + environment { free(pointer) } }
        arguments.append(nil)
        environment.append(nil)
        return posix_spawn(&process, "/usr/bin/env", nil, &attributes, arguments, environment)
    }
}
