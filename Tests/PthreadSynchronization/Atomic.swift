/// `Synchronization.Atomic` beside ``Mutex``, as far as Doorstep uses it: a module has one or the other.
///
/// Under a lock, which orders no less than any ordering asks for: what races here races there.
public struct Atomic<Value: Sendable & Equatable>: ~Copyable, Sendable {
    private let value: Mutex<Value>

    public init(_ value: Value) { self.value = Mutex(value) }

    public borrowing func load(ordering: AtomicLoadOrdering) -> Value { value.withLock { $0 } }

    public borrowing func store(_ new: Value, ordering: AtomicStoreOrdering) { value.withLock { $0 = new } }

    public borrowing func exchange(_ new: Value, ordering: AtomicUpdateOrdering) -> Value {
        value.withLock { value in
            defer { value = new }
            return value
        }
    }

    public borrowing func weakCompareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        value.withLock { value in
            let original = value
            if original == expected { value = desired }
            return (original == expected, original)
        }
    }
}

extension Atomic where Value: FixedWidthInteger {
    @discardableResult
    public borrowing func add(
        _ operand: Value, ordering: AtomicUpdateOrdering
    ) -> (oldValue: Value, newValue: Value) {
        value.withLock { value in
            let old = value
            value += operand
            return (old, value)
        }
    }

    @discardableResult
    public borrowing func wrappingAdd(
        _ operand: Value, ordering: AtomicUpdateOrdering
    ) -> (oldValue: Value, newValue: Value) {
        value.withLock { value in
            let old = value
            value &+= operand
            return (old, value)
        }
    }
}

public enum AtomicLoadOrdering: Sendable { case relaxed, acquiring, sequentiallyConsistent }

public enum AtomicStoreOrdering: Sendable { case relaxed, releasing, sequentiallyConsistent }

public enum AtomicUpdateOrdering: Sendable {
    case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent
}
