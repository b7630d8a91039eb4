import Foundation
import Glibc

/// Numbers about this process, as Prometheus' client libraries expose them.
public enum ProcessStatistics {
    /// Open file descriptors, the one that reads the directory excluded; nil without /proc. (proc_pid_fd(5))
    public static var openFiles: Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            // "." and "..", which no descriptor's number begins like.
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return max(0, count - 1)
    }

    /// The most file descriptors that the process may open. (getrlimit(2))
    public static var maximumFiles: Int { OpenFileLimit.raise(to: 0) }

    /// nil without /proc. (proc_pid_status(5), Threads)
    public static var threads: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return nil
        }
        return status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
            .flatMap { Int($0.dropFirst("Threads:".count).trimmingCharacters(in: .whitespaces)) }
    }
}
