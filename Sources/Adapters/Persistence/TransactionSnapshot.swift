/// The transactions that a snapshot of PostgreSQL sees as committed (PostgreSQL, "System Information Functions",
/// `pg_snapshot`).
struct TransactionSnapshot {
    /// All transactions before this number have ended.
    private let xmin: UInt64
    /// No transaction from this number on has ended.
    private let xmax: UInt64
    /// The running transactions between the two numbers.
    private let underWay: Set<UInt64>

    /// Nil for an invalid text; a valid one is `10:20:10,14,15`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let xmin = UInt64(parts[0]), let xmax = UInt64(parts[1]) else { return nil }
        self.xmin = xmin
        self.xmax = xmax
        underWay = Set(parts[2].split(separator: ",").compactMap { UInt64($0) })
    }

    /// Whether the snapshot sees a committed transaction.
    func sees(_ transaction: UInt64) -> Bool {
        transaction < xmin || (transaction < xmax && !underWay.contains(transaction))
    }
}
