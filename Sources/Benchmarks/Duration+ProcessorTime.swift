import Glibc

extension Duration {
    /// The processor time of this process, in user and system mode.
    static var processorTime: Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let time = (usage.ru_utime, usage.ru_stime)
        return .seconds(time.0.tv_sec + time.1.tv_sec) + .microseconds(time.0.tv_usec + time.1.tv_usec)
    }
}
