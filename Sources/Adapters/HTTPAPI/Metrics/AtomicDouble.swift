import Synchronization

/// A double that many threads can change without a lock. Its initial value is 0.
struct AtomicDouble: ~Copyable {
    private let bits = Atomic<UInt64>(Double.zero.bitPattern)

    func load() -> Double {
        Double(bitPattern: bits.load(ordering: .relaxed))
    }

    func store(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func add(_ amount: Double) {
        var current = bits.load(ordering: .relaxed)
        while true {
            let sum = Double(bitPattern: current) + amount
            let (isExchanged, original) = bits.weakCompareExchange(
                expected: current, desired: sum.bitPattern, ordering: .relaxed)
            if isExchanged { return }
            current = original
        }
    }
}
