import Foundation

/// A pipe that wakes a thread out of `poll`.
///
/// Its ends are closed with the last reference, so nobody can write to a descriptor that became another file.
final class Wakeup: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    /// Throws `PostgreSQLError.connectFailed` when the process has no descriptors left.
    init() throws(PostgreSQLError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .connectFailed(reason: "no file descriptors left") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
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

    /// Takes everything out again.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(readEnd, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
