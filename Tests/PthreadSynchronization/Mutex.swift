import Glibc

/// `Synchronization.Mutex` for the thread sanitizer, which knows the locks of pthreads and not the standard library's.
///
/// On Linux that one is a futex within inlined code, so that the sanitizer reports whatever it guards. Targets are built with
/// this module by the name of the other (`-module-alias`), and say nothing of it: Package.swift and deploy/checks/sanitizers.
public struct Mutex<Value: ~Copyable>: ~Copyable {
    private let guarded: Guarded<Value>

    public init(_ value: consuming sending Value) { guarded = Guarded(value) }

    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(guarded.lock)
        defer { pthread_mutex_unlock(guarded.lock) }
        return try body(&guarded.value)
    }
}

// Nobody reaches the value but by the lock.
extension Mutex: @unchecked Sendable where Value: ~Copyable {}

/// A value and its lock, where they stay.
private final class Guarded<Value: ~Copyable> {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    var value: Value

    init(_ value: consuming sending Value) {
        self.value = value
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }
}
