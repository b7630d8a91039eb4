import Glibc

/// How long processors have worked, in user and system mode (POSIX, `clock_gettime`).
public enum ProcessorTime {
    /// For this process.
    public static var ofProcess: Duration { time(CLOCK_PROCESS_CPUTIME_ID) }

    /// For the calling thread.
    public static var ofThread: Duration { time(CLOCK_THREAD_CPUTIME_ID) }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
