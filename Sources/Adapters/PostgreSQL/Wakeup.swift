import Foundation

/// A pipe that wakes a thread out of `poll`.
///
/// Its ends are closed with the last reference, so that no thread writes to a descriptor that became another file.
final class Wakeup: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    /// Throws `PostgreSQLError.connectFailed` when the process has no descriptors left.
    init() throws(PostgreSQLError) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            // In one step: a process started by another thread in between would inherit them. Swift does not
            // see `pipe2`; a pair of sockets does the same.
            let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let isMade = socketpair(AF_UNIX, Int32(type), 0, &ends) == 0
        #else
            let isMade = pipe(&ends) == 0
            for end in ends where isMade {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        #endif
        guard isMade else { throw .connectFailed(reason: "no file descriptors left") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Makes `readEnd` readable; when the pipe is full it already is.
    func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    /// Removes all pending wake-ups.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(readEnd, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
