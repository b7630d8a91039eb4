import Synchronization

/// A value that several tasks of a test change.
public final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    public init(_ value: Value) {
        mutex = Mutex(value)
    }

    public var value: Value { mutex.withLock { $0 } }

    public func change<R: Sendable>(_ body: (inout Value) -> R) -> R {
        mutex.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}
