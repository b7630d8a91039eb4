public import Foundation

/// Delays requests so that all processes that use a key together stay within its budget.
///
/// Source: "Identifying rate limits": a rolling hour for each key, reported in `X-Rate-Limit`. [Apple] 3,600 was measured; a
/// limit of writes per minute was seen. [observed] A tenth of each is left for people and CI. [ours]
public actor RequestPacer {
    private let ledger: any RequestLedger
    private let clock: any SyncClock
    /// Per hour, as the service reports it.
    private var limit = 3_600
    /// All requests known to be used in this hour, including the reservations of this process.
    private var spent = 0
    private var leased = 0
    private var leasedUntil = Date.distantPast
    /// The running reservation: several waiting requests share one.
    private var lease: Task<Date?, any Error>?
    private var pausedUntil = Date.distantPast
    private var refusals = 0
    private let onWait: (@Sendable (Date) -> Void)?
    /// The end of the last reported wait.
    private var announced = Date.distantPast

    /// Requests that are set aside at once: with fewer, each costs a transaction; with more, more are lost with a process. [ours]
    public static let leaseSize = 10
    /// The lifetime of a reservation in seconds, so that requests reserved in one minute are not sent much later. [ours]
    static let leaseDuration = 30.0
    /// The first and the longest pause in seconds after a refusal without a given time. [ours]
    private static let pauses = 60.0...900.0
    /// After this number of refusals in a row, requests fail instead of waiting. [ours]
    static let maximumRefusals = 20

    /// - Parameter onWait: Called at the beginning of each wait for the key's rate limit, with its end.
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
    /// - Throws: `SyncError.tooManyRefusals` if waiting does not help.
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

    /// Reserves requests, or waits for a running reservation.
    /// - Returns: The time at which requests will be available; nil if some are available now.
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

    /// Updates the rate limit from a response.
    /// - Parameters:
    ///   - hour: The limit and the remaining requests, if the response has both.
    ///   - minute: the same.
    ///   - refusal: For a refusal of too many requests, the seconds to wait if the response names them; nil for other
    ///     responses.
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
