import Tenancy

/// The leases of a ``LeaseLoop``, their lessees and their results.
///
/// The results of a lessee wait until one settler at a time stores them. If the results of a lessee cannot be stored, the lessee
/// gets no new leases. Otherwise its leases could expire, and the same work could be leased here again.
struct LeaseState<Lessee: OfTenant, Outcome: Sendable> {
    private enum Settling { case idle, queued, underWay, resting }

    private struct Account {
        /// The number of reserved claims.
        var reserved = 0
        /// The number of unsettled leases.
        var held = 0
        /// Results that are not being settled.
        var outcomes: [Outcome] = []
        var settling = Settling.idle
        /// Whether some outcomes could not be written.
        var isBehind = false
        /// In how many polls outcomes have waited, none of them written.
        var waited = 0
        /// Whether it is left alone after a claim that failed.
        var isResting = false
        /// The number of consecutive failed claims.
        var failures = 0

        var isEmpty: Bool {
            reserved == 0 && held == 0 && settling == .idle && !isResting && failures == 0
        }
    }

    private let settings: LeaseSettings
    private var accounts: [Lessee: Account] = [:]
    private var reservedCount = 0
    /// The number of unsettled leases.
    private(set) var heldCount = 0
    /// Both, of each tenant.
    private var tenantCounts: [TenantID: Int] = [:]
    /// The lessee that was served last.
    private var last: Lessee?
    /// Whether the last look found more than there was room for.
    private var isShort = false
    /// The lessees with results to settle now, longest waiting first.
    private var queue: [Lessee] = []
    private var settlerCount = 0
    /// Rests after claims that failed, and that have not begun.
    private var rests: [(lessee: Lessee, number: Int)] = []
    /// Whether the last request failed.
    var isFailing = false
    /// Whether the last search for lessees failed. The next search follows after a poll or a success.
    var isLookFailing = false
    var isStopping = false
    /// All work has ended, and no more begins.
    private var isDrained = false

    init(_ settings: LeaseSettings) {
        self.settings = settings
    }

    // MARK: Taking

    /// The lessees that get nothing now; nil if no lessee gets anything.
    var busy: [Lessee]? {
        guard !isLookFailing, heldCount + reservedCount < settings.total else { return nil }
        return accounts.keys.filter { room(for: $0) == 0 }
    }

    private func room(for lessee: Lessee) -> Int {
        let account = accounts[lessee, default: Account()]
        guard !isStopping, !account.isBehind, !account.isResting, account.waited < settings.patience
        else { return 0 }
        return max(
            0,
            min(
                settings.batch, settings.total - heldCount - reservedCount,
                settings.share - account.held - account.reserved,
                (settings.tenantShare ?? .max) - tenantCounts[lessee.tenant, default: 0]))
    }

    /// Changes the number of reserved claims of a lessee.
    private mutating func addReserved(_ change: Int, for lessee: Lessee) {
        accounts[lessee, default: Account()].reserved += change
        reservedCount += change
        count(change, of: lessee.tenant)
    }

    /// Changes the number of leases of a lessee.
    private mutating func addHeld(_ change: Int, of lessee: Lessee) {
        accounts[lessee, default: Account()].held += change
        heldCount += change
        count(change, of: lessee.tenant)
    }

    private mutating func count(_ change: Int, of tenant: TenantID) {
        let count = tenantCounts[tenant, default: 0] + change
        tenantCounts[tenant] = count == 0 ? nil : count
    }

    /// Lessees in turn, beginning after the one that was served last.
    /// - Parameter lessees: In the order of their IDs.
    func inTurn(_ lessees: [Lessee]) -> [Lessee] {
        guard let last, let next = lessees.firstIndex(where: { $0 > last }) else {
            return lessees
        }
        return Array(lessees[next...] + lessees[..<next])
    }

    /// Nil if there is no room.
    mutating func reserve(for lessee: Lessee) -> Int? {
        let room = self.room(for: lessee)
        guard room > 0 else { return nil }
        addReserved(room, for: lessee)
        return room
    }

    /// Reserves for all that a look found, as far as there is room.
    mutating func reserve(for found: [Lessee]) -> [(lessee: Lessee, room: Int)] {
        var rooms: [(lessee: Lessee, room: Int)] = []
        for lessee in found {
            if let room = reserve(for: lessee) { rooms.append((lessee, room)) }
        }
        isShort = found.count == settings.foundAtOnce || rooms.count < found.count
        return rooms
    }

    /// - Returns: Whether there may be more to take at once.
    mutating func claimed(
        _ count: Int, of room: Int, for lessee: Lessee, hasMore: Bool = false
    ) -> Bool {
        addHeld(count, of: lessee)
        if count == 0 { accounts[lessee]?.failures = 0 }
        last = lessee
        release(room, of: lessee)
        // One look does not find everybody, however much room there is.
        let hasRoom = heldCount + reservedCount < settings.total
        return hasMore || (settings.isInTurn ? count > 0 : isShort && hasRoom)
    }

    /// A failure during a rest counts as the same failure.
    mutating func failedToClaim(_ room: Int, for lessee: Lessee) {
        var account = accounts[lessee, default: Account()]
        if !account.isResting, !isStopping {
            account.failures += 1
            account.isResting = true
            rests.append((lessee, account.failures))
        }
        accounts[lessee] = account
        release(room, of: lessee)
    }

    private mutating func release(_ room: Int, of lessee: Lessee) {
        addReserved(-room, for: lessee)
        tidy(lessee)
    }

    /// - Returns: The lessee whose rest begins now, and its number of consecutive failures.
    mutating func takeRests() -> [(lessee: Lessee, number: Int)] {
        defer { rests = [] }
        return rests
    }

    mutating func endRest(of lessee: Lessee) {
        accounts[lessee]?.isResting = false
        tidy(lessee)
    }

    // MARK: Settling

    mutating func finish(_ outcome: Outcome, of lessee: Lessee) {
        accounts[lessee, default: Account()].outcomes.append(outcome)
        if accounts[lessee]?.settling == .idle { enqueue(lessee) }
    }

    private mutating func enqueue(_ lessee: Lessee) {
        accounts[lessee]?.settling = .queued
        queue.append(lessee)
    }

    /// The lessee whose results are settled next; nil if there is none, or no settler is free.
    mutating func next() -> Lessee? {
        guard settlerCount < settlers, !queue.isEmpty else { return nil }
        let lessee = queue.removeFirst()
        accounts[lessee]?.settling = .underWay
        settlerCount += 1
        return lessee
    }

    /// Whether it is worth waiting for more outcomes of a lessee.
    func mayGather(for lessee: Lessee) -> Bool {
        settings.gathering > .zero && !isDrained && queue.isEmpty
            && accounts[lessee, default: Account()].outcomes.count < settings.batch
    }

    /// The results of a lessee's oldest leases, to settle now.
    mutating func takeOutcomes(of lessee: Lessee) -> [Outcome] {
        let (all, batch) = (accounts[lessee, default: Account()].outcomes, settings.batch)
        accounts[lessee]?.outcomes = Array(all.dropFirst(batch))
        return Array(all.prefix(batch))
    }

    /// - Parameter unsettled: The results that could not be stored.
    /// - Returns: Whether the lessee rests now, until ``endSettlingRest(of:)``.
    mutating func settled(_ count: Int, keeping unsettled: [Outcome], of lessee: Lessee) -> Bool {
        settlerCount -= 1
        addHeld(-count, of: lessee)
        var account = accounts[lessee, default: Account()]
        account.outcomes.insert(contentsOf: unsettled, at: 0)
        account.isBehind = !unsettled.isEmpty
        account.settling = .idle
        defer { tidy(lessee) }
        if count > 0 { account.waited = 0 }
        guard account.isBehind else {
            account.failures = 0
            accounts[lessee] = account
            if !account.outcomes.isEmpty { enqueue(lessee) }
            return false
        }
        if !isDrained { account.settling = .resting }
        accounts[lessee] = account
        return !isDrained
    }

    /// The poll interval has passed: work whose results are unsettled may be leased again.
    mutating func pass() {
        isLookFailing = false
        for (lessee, account) in accounts where account.settling != .idle {
            accounts[lessee]?.waited = account.waited + 1
        }
    }

    mutating func endSettlingRest(of lessee: Lessee) {
        guard let account = accounts[lessee], account.settling == .resting else { return }
        accounts[lessee]?.settling = .idle
        if account.outcomes.isEmpty {
            accounts[lessee]?.isBehind = false
            accounts[lessee]?.waited = 0
        } else if !isDrained {
            enqueue(lessee)
        }
        tidy(lessee)
    }

    /// Gives up waiting results for which it is too late.
    /// - Returns: The number of these results.
    mutating func drop(where isPast: (Outcome) -> Bool) -> Int {
        var droppedCount = 0
        for (lessee, account) in accounts where account.outcomes.contains(where: isPast) {
            let left = account.outcomes.filter { !isPast($0) }
            let count = account.outcomes.count - left.count
            accounts[lessee]?.outcomes = left
            addHeld(-count, of: lessee)
            droppedCount += count
            if left.isEmpty, account.settling == .queued {
                queue.removeAll { $0 == lessee }
                accounts[lessee]?.settling = .idle
                accounts[lessee]?.isBehind = false
                accounts[lessee]?.waited = 0
            }
            tidy(lessee)
        }
        return droppedCount
    }

    // MARK: Ending

    /// No work is running: the remaining results are settled in rounds.
    mutating func drain() {
        isDrained = true
        queue = []
    }

    /// Whether no result is being stored or waits for it, before the first round.
    var isQuiet: Bool { isDrained && queue.isEmpty && settlerCount == 0 }

    /// Settles the results of all lessees once more.
    /// - Returns: The number of settlers; 0 if no lessee has results.
    mutating func beginRound() -> Int {
        queue = accounts.filter { !$0.value.outcomes.isEmpty }.map(\.key)
        for lessee in queue { accounts[lessee]?.settling = .queued }
        return min(queue.count, settlers)
    }

    /// The remaining results are settled at the same time, because one after another each could take as long as the wait for a
    /// connection.
    private var settlers: Int { isDrained && settings.cutsOff ? .max : settings.settlers }

    /// - Returns: The number of results that are given up.
    mutating func abandon() -> Int {
        defer { (accounts, heldCount, tenantCounts, queue) = ([:], 0, [:], []) }
        return accounts.values.reduce(0) { $0 + $1.outcomes.count }
    }

    private mutating func tidy(_ lessee: Lessee) {
        if accounts[lessee]?.isEmpty == true { accounts[lessee] = nil }
    }
}
