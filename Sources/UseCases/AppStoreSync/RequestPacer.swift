public import Foundation

/// Lets requests go one by one, so that all processes that use a key stay within its budget together.
///
/// Source: "Identifying rate limits": a rolling hour for each key, told in `X-Rate-Limit`. [Apple] 3,600 is what was measured,
/// a minute's limit for writes was seen. [observed] That a tenth of each is left for people and CI is [ours].
public actor RequestPacer {
    private let ledger: any RequestLedger
    private let clock: any SyncClock
    /// Of an hour, as the service says.
    private var limit = 3_600
    /// All that is known to be spent in this hour, what is lent here among it.
    private var spent = 0
    private var leased = 0
    private var leasedUntil = Date.distantPast
    /// What is being borrowed: several who find nothing lent wait for one loan.
    private var lease: Task<Date?, any Error>?
    private var pausedUntil = Date.distantPast
    private var refusals = 0
    private let onWait: (@Sendable (Date) -> Void)?
    /// Until when it was last said that requests wait.
    private var announced = Date.distantPast

    /// Requests that are set aside at once: with fewer, each costs a transaction; with more, more are lost with a process. [ours]
    public static let leaseSize = 10
    /// For how long a loan is good, in seconds: what was set aside in one minute is not to be spent in much later ones. [ours]
    static let leaseDuration = 30.0
    /// The first pause after a refusal that does not say for how long, and the longest, in seconds. [ours]
    private static let pauses = 60.0...900.0
    /// So many refusals in a row, and nobody waits any longer. [ours]
    static let maximumRefusals = 20

    /// - Parameter onWait: told once for each wait, when it begins, until when requests wait for the key's budget.
    public init(
        _ ledger: any RequestLedger, _ clock: any SyncClock,
        onWait: (@Sendable (Date) -> Void)? = nil
    ) {
        self.ledger = ledger
        self.clock = clock
        self.onWait = onWait
    }

    /// Requests of an hour that are sent, at most.
    public var allowance: Int { max(1, limit * 9 / 10) }

    /// Returns when a request may be sent, which may be in an hour.
    /// - Throws: `SyncError.tooManyRefusals` where waiting is no use.
    public func permit() async throws {
        while true {
            guard refusals < Self.maximumRefusals else { throw SyncError.tooManyRefusals }
            let now = clock.now()
            if pausedUntil > now {
                try await wait(until: pausedUntil)
            } else if leased > 0, now < leasedUntil {
                leased -= 1
                return
            } else if let next = try await borrow() {
                try await wait(until: next)
            }
        }
    }

    private func wait(until end: Date) async throws {
        if end > announced {
            announced = end
            onWait?(end)
        }
        try await clock.sleep(until: end)
    }

    /// Sets requests aside, or waits for whoever does.
    /// - Returns: when there will be any again; nil where there are some now.
    private func borrow() async throws -> Date? {
        let lease = lease ?? Task { try await takeLease() }
        self.lease = lease
        return try await lease.value
    }

    private func takeLease() async throws -> Date? {
        defer { lease = nil }
        let now = clock.now()
        let grant = try await ledger.spend(Self.leaseSize, of: allowance, at: now)
        spent = grant.spent
        guard grant.count > 0 else { return grant.next }
        leased = grant.count
        leasedUntil = now.addingTimeInterval(Self.leaseDuration)
        return nil
    }

    /// Takes what an answer says of the budget.
    /// - Parameters:
    ///   - hour: limit and rest, where the answer says both.
    ///   - minute: the same.
    ///   - refusal: of an answer that says that there were too many requests, how long to wait in seconds, where it says so; nil for
    ///     any other answer.
    public func observe(
        hour: (limit: Int, rest: Int)?, minute: (limit: Int, rest: Int)?, refusal: Int??
    ) async throws {
        if let refusal { pause(afterRefusal: refusal) } else { refusals = 0 }
        if let minute, minute.rest <= minute.limit / 10 { pause(60) }
        guard let hour, hour.limit > 0 else { return }
        limit = hour.limit
        let counted = hour.limit - hour.rest
        guard counted > spent else { return }
        spent = counted
        leased = 0
        try await ledger.raise(to: counted, at: clock.now())
    }

    private func pause(afterRefusal retryAfter: Int?) {
        let doubled = Self.pauses.lowerBound * Double(1 << min(refusals, 4))
        let pause = retryAfter.map(Double.init) ?? min(doubled, Self.pauses.upperBound)
        // Up to a tenth more, so that several processes do not all come back at once.
        self.pause(pause * .random(in: 1...1.1))
        refusals += 1
    }

    /// When so many requests more will have been sent at the present budget; nil where they fit into this hour.
    func end(after requests: Int) -> Date? {
        let room = allowance - spent + leased
        guard requests > room else { return nil }
        let hours = Double(requests - room) / Double(allowance)
        return clock.now().addingTimeInterval(hours * 3_600)
    }

    private func pause(_ seconds: Double) {
        pausedUntil = max(pausedUntil, clock.now().addingTimeInterval(seconds))
    }
}
