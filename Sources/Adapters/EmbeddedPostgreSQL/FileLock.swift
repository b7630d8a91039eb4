import Foundation

/// A lock on a file. The kernel releases it when the process ends, even after a crash.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Opens the file without locking it. The file is closed on `exec`, because the server must not inherit the lock. Links are
    /// not followed, because the directory may belong to another account.
    init(path: String) throws(EmbeddedServerError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .directory(path, reason: String(cString: strerror(errno)))
        }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the lock.
    func lockAlone() {
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    /// Waits until no process has the lock exclusively.
    func lockShared() {
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }

    /// Takes the lock if it is free.
    func tryLockAlone() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }
}
