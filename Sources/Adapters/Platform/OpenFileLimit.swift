import Glibc

/// How many files, sockets among them, a process may have open at once (POSIX, `setrlimit`).
public enum OpenFileLimit {
    /// Raises the limit as far as the system allows the process, up to the wanted value.
    ///
    /// Debian starts processes with a limit of 1,024, which is for programs that wait by `select`, and allows them more.
    /// - Returns: The limit that holds.
    public static func raise(to wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        if limit.rlim_cur < rlim_t(wanted) {
            var higher = limit
            higher.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &higher) == 0 { limit = higher }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
