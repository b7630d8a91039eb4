import Foundation
import Tenancy

/// What a ``LeaseLoop`` has on loan, for whom, and what became of it.
///
/// Of each tenant, outcomes wait until they are settled, by one settler at a time; a tenant whose outcomes could not be
/// written gets nothing more until they are, as its loans could end meanwhile and be taken again here.
struct LeaseState<Outcome: Sendable> {
    private enum Settling { case idle, queued, underWay, resting }

    private struct Account {
        /// What is about to be claimed.
        var reserved = 0
        /// On loan and not settled.
        var held = 0
        /// What became of some of that, and is not being written.
        var outcomes: [Outcome] = []
        var settling = Settling.idle
        /// Whether some outcomes could not be written.
        var isBehind = false
        /// In how many polls outcomes have waited, none of them written.
        var waited = 0
        /// Whether it is left alone after a claim that failed.
        var isResting = false
        /// How often in succession claiming failed.
        var failures = 0

        var isEmpty: Bool {
            reserved == 0 && held == 0 && settling == .idle && !isResting && failures == 0
        }
    }

    private let settings: LeaseSettings
    private var accounts: [TenantID: Account] = [:]
    private var reservedCount = 0
    /// On loan and not settled.
    private(set) var heldCount = 0
    /// Who was served last.
    private var last: TenantID?
    /// Whether the last look found more than there was room for.
    private var isShort = false
    /// Who has outcomes to be settled now, those that have waited longest first.
    private var queue: [TenantID] = []
    private var settlerCount = 0
    /// Rests after claims that failed, and that have not begun.
    private var rests: [(tenant: TenantID, number: Int)] = []
    /// Whether what was asked last did not work.
    var isFailing = false
    /// Whether it was asked in vain who has something due: nobody is looked for until the next poll, or until something works.
    var isLookFailing = false
    var isStopping = false
    /// Nothing is worked on any more, nor will be.
    private var isDrained = false

    init(_ settings: LeaseSettings) {
        self.settings = settings
    }

    // MARK: Taking

    /// Who gets nothing now; nil when nobody gets anything.
    var busy: [TenantID]? {
        guard !isLookFailing, heldCount + reservedCount < settings.total else { return nil }
        return accounts.keys.filter { room(for: $0) == 0 }
    }

    private func room(for tenant: TenantID) -> Int {
        let account = accounts[tenant, default: Account()]
        guard !isStopping, !account.isBehind, !account.isResting, account.waited < settings.patience
        else { return 0 }
        return max(
            0,
            min(
                settings.batch, settings.total - heldCount - reservedCount,
                settings.share - account.held - account.reserved))
    }

    /// Tenants as it is their turn: those behind the one served last first.
    /// - Parameter tenants: In the order of their IDs.
    func inTurn(_ tenants: [TenantID]) -> [TenantID] {
        guard let last, let next = tenants.firstIndex(where: { $0.isBehind(last) }) else {
            return tenants
        }
        return Array(tenants[next...] + tenants[..<next])
    }

    /// Nil when there is no room.
    mutating func reserve(for tenant: TenantID) -> Int? {
        let room = self.room(for: tenant)
        guard room > 0 else { return nil }
        accounts[tenant, default: Account()].reserved += room
        reservedCount += room
        return room
    }

    /// Reserves for all that a look found, as far as there is room.
    mutating func reserve(for found: [TenantID]) -> [(tenant: TenantID, room: Int)] {
        var rooms: [(tenant: TenantID, room: Int)] = []
        for tenant in found {
            if let room = reserve(for: tenant) { rooms.append((tenant, room)) }
        }
        isShort = found.count == settings.foundAtOnce || rooms.count < found.count
        return rooms
    }

    /// - Returns: Whether there may be more to take at once.
    mutating func claimed(
        _ count: Int, of room: Int, for tenant: TenantID, hasMore: Bool = false
    ) -> Bool {
        accounts[tenant, default: Account()].held += count
        heldCount += count
        if count == 0 { accounts[tenant]?.failures = 0 }
        last = tenant
        release(room, of: tenant)
        return hasMore || (settings.isInTurn ? count > 0 : isShort && count < room)
    }

    /// What fails while a tenant rests already is the same failure.
    mutating func failedToClaim(_ room: Int, for tenant: TenantID) {
        var account = accounts[tenant, default: Account()]
        if !account.isResting, !isStopping {
            account.failures += 1
            account.isResting = true
            rests.append((tenant, account.failures))
        }
        accounts[tenant] = account
        release(room, of: tenant)
    }

    private mutating func release(_ room: Int, of tenant: TenantID) {
        accounts[tenant]?.reserved -= room
        reservedCount -= room
        tidy(tenant)
    }

    /// - Returns: Who begins to rest now, and after how many failures in succession.
    mutating func takeRests() -> [(tenant: TenantID, number: Int)] {
        defer { rests = [] }
        return rests
    }

    mutating func endRest(of tenant: TenantID) {
        accounts[tenant]?.isResting = false
        tidy(tenant)
    }

    // MARK: Settling

    mutating func finish(_ outcome: Outcome, of tenant: TenantID) {
        accounts[tenant, default: Account()].outcomes.append(outcome)
        if accounts[tenant]?.settling == .idle { enqueue(tenant) }
    }

    private mutating func enqueue(_ tenant: TenantID) {
        accounts[tenant]?.settling = .queued
        queue.append(tenant)
    }

    /// Whose outcomes are settled next; nil when nobody's are, or no settler is free.
    mutating func next() -> TenantID? {
        guard settlerCount < settlers, !queue.isEmpty else { return nil }
        let tenant = queue.removeFirst()
        accounts[tenant]?.settling = .underWay
        settlerCount += 1
        return tenant
    }

    /// Whether it is worth waiting for more outcomes of a tenant.
    func mayGather(for tenant: TenantID) -> Bool {
        settings.gathering > .zero && !isDrained && queue.isEmpty
            && accounts[tenant, default: Account()].outcomes.count < settings.batch
    }

    /// What became of a tenant's oldest loans, to be written at once.
    mutating func takeOutcomes(of tenant: TenantID) -> [Outcome] {
        let all = accounts[tenant, default: Account()].outcomes
        accounts[tenant]?.outcomes = Array(all.dropFirst(settings.batch))
        return Array(all.prefix(settings.batch))
    }

    /// - Parameter unsettled: What could not be written.
    /// - Returns: Whether the tenant rests now, until ``endSettlingRest(of:)``.
    mutating func settled(_ count: Int, keeping unsettled: [Outcome], of tenant: TenantID) -> Bool {
        settlerCount -= 1
        var account = accounts[tenant, default: Account()]
        account.held -= count
        heldCount -= count
        account.outcomes.insert(contentsOf: unsettled, at: 0)
        account.isBehind = !unsettled.isEmpty
        account.settling = .idle
        defer { tidy(tenant) }
        if count > 0 { account.waited = 0 }
        guard account.isBehind else {
            account.failures = 0
            accounts[tenant] = account
            if !account.outcomes.isEmpty { enqueue(tenant) }
            return false
        }
        if !isDrained { account.settling = .resting }
        accounts[tenant] = account
        return !isDrained
    }

    /// A poll's time has passed: what waits to be written may be lent again before it is.
    mutating func pass() {
        isLookFailing = false
        for (tenant, account) in accounts where account.settling != .idle {
            accounts[tenant]?.waited = account.waited + 1
        }
    }

    mutating func endSettlingRest(of tenant: TenantID) {
        guard let account = accounts[tenant], account.settling == .resting else { return }
        accounts[tenant]?.settling = .idle
        if account.outcomes.isEmpty {
            accounts[tenant]?.isBehind = false
            accounts[tenant]?.waited = 0
        } else if !isDrained {
            enqueue(tenant)
        }
        tidy(tenant)
    }

    /// Gives up outcomes that wait to be written, where it is too late for it.
    /// - Returns: How many.
    mutating func drop(where isPast: (Outcome) -> Bool) -> Int {
        var droppedCount = 0
        for (tenant, account) in accounts where account.outcomes.contains(where: isPast) {
            let left = account.outcomes.filter { !isPast($0) }
            let count = account.outcomes.count - left.count
            accounts[tenant]?.outcomes = left
            accounts[tenant]?.held -= count
            heldCount -= count
            droppedCount += count
            if left.isEmpty, account.settling == .queued {
                queue.removeAll { $0 == tenant }
                accounts[tenant]?.settling = .idle
                accounts[tenant]?.isBehind = false
                accounts[tenant]?.waited = 0
            }
            tidy(tenant)
        }
        return droppedCount
    }

    // MARK: Ending

    /// Nothing is worked on any more: what is left is settled in rounds.
    mutating func drain() {
        isDrained = true
        queue = []
    }

    /// Whether nothing is being written any more, nor waits for it, before the first round.
    var isQuiet: Bool { isDrained && queue.isEmpty && settlerCount == 0 }

    /// Everybody who has outcomes left is settled once more.
    /// - Returns: How many settlers there are to be; 0 where there is nobody.
    mutating func beginRound() -> Int {
        queue = accounts.filter { !$0.value.outcomes.isEmpty }.map(\.key)
        for tenant in queue { accounts[tenant]?.settling = .queued }
        return min(queue.count, settlers)
    }

    /// All that is left is settled at once where nobody waits for it: one after another, each could take as long as a
    /// connection is waited for.
    private var settlers: Int { isDrained && settings.cutsOff ? .max : settings.settlers }

    /// - Returns: How many outcomes are given up.
    mutating func abandon() -> Int {
        defer { (accounts, heldCount, queue) = ([:], 0, []) }
        return accounts.values.reduce(0) { $0 + $1.outcomes.count }
    }

    private mutating func tidy(_ tenant: TenantID) {
        if accounts[tenant]?.isEmpty == true { accounts[tenant] = nil }
    }
}

extension TenantID {
    /// In the order of the IDs' bytes, which is PostgreSQL's.
    fileprivate func isBehind(_ other: TenantID) -> Bool {
        withUnsafeBytes(of: uuid.uuid) { mine in
            withUnsafeBytes(of: other.uuid.uuid) { theirs in theirs.lexicographicallyPrecedes(mine) }
        }
    }
}
