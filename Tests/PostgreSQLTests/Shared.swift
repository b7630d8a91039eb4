import Synchronization

/// A value that several tasks of a test change.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    var value: Value { mutex.withLock { $0 } }

    func change<R: Sendable>(_ body: (inout Value) -> R) -> R {
        mutex.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}
