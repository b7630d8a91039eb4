import Tenancy

/// What a ``LeaseLoop`` has on loan, for whom, and what became of it.
struct LeaseState<Outcome: Sendable> {
    private let settings: LeaseSettings
    /// On loan and not settled.
    private(set) var loanCount = 0
    private var loans: [TenantID: Int] = [:]
    /// What became of some of them.
    private var outcomes: [TenantID: [Outcome]] = [:]
    /// Who has outcomes to be settled now, those that have waited longest first.
    private var queue: [TenantID] = []
    private var settling: Set<TenantID> = []
    private var resting: Set<TenantID> = []
    /// Rests that have not begun.
    private var rests: [(tenant: TenantID, pause: Duration)] = []
    /// How often in succession something failed.
    var failures: [TenantID: Int] = [:]
    var isFailing = false
    var isStopping = false
    /// Nothing is worked on any more, nor will be.
    private var isDrained = false

    init(_ settings: LeaseSettings) {
        self.settings = settings
    }

    // MARK: Taking

    /// Who gets nothing now; nil when nobody gets anything.
    var busy: [TenantID]? {
        guard loanCount < settings.total else { return nil }
        return Set(loans.keys).union(resting).filter { room(for: $0) <= 0 }
    }

    private func room(for tenant: TenantID) -> Int {
        let isBehind = failures[tenant] != nil && (outcomes[tenant] != nil || settling.contains(tenant))
        guard !isStopping, !isBehind, !resting.contains(tenant) else { return 0 }
        return min(
            settings.batch, settings.total - loanCount, settings.share - loans[tenant, default: 0])
    }

    /// Nil when there is no room.
    mutating func reserve(for tenant: TenantID) -> Int? {
        let room = self.room(for: tenant)
        guard room > 0 else { return nil }
        loans[tenant, default: 0] += room
        loanCount += room
        return room
    }

    mutating func release(_ count: Int, of tenant: TenantID) {
        let left = loans[tenant, default: 0] - count
        loans[tenant] = left > 0 ? left : nil
        loanCount -= count
    }

    // MARK: Settling

    mutating func finish(_ outcome: Outcome, of tenant: TenantID) {
        // Who has outcomes already is in the queue, or will be.
        if outcomes[tenant] == nil, !settling.contains(tenant) { queue.append(tenant) }
        outcomes[tenant, default: []].append(outcome)
    }

    /// Nil when there will be nobody any more.
    mutating func nextToSettle() -> [TenantID]? {
        if isDrained, queue.isEmpty, settling.isEmpty { return nil }
        let next = Array(queue.prefix(settings.settlers - settling.count))
        queue.removeFirst(next.count)
        settling.formUnion(next)
        return next
    }

    /// Whether it is worth waiting for more outcomes of a tenant.
    func mayGather(for tenant: TenantID) -> Bool {
        settings.gathering > .zero && !isStopping && queue.isEmpty
            && outcomes[tenant, default: []].count < settings.batch
    }

    mutating func takeOutcomes(of tenant: TenantID) -> [Outcome] {
        let all = outcomes[tenant, default: []]
        outcomes[tenant] = all.count > settings.batch ? Array(all.dropFirst(settings.batch)) : nil
        return Array(all.prefix(settings.batch))
    }

    mutating func settled(_ count: Int, of tenant: TenantID) {
        release(count, of: tenant)
        failures[tenant] = nil
        settleAgain(tenant)
    }

    /// Keeps what could not be settled.
    /// - Returns: How long to wait until it is tried again; nil when it is not, or once the tenant has rested.
    mutating func keep(
        _ unsettled: [Outcome], of tenant: TenantID, resting pause: (Int) -> Duration
    ) -> Duration? {
        outcomes[tenant, default: []].insert(contentsOf: unsettled, at: 0)
        if isDrained {
            failures[tenant, default: 0] += 1
            if failures[tenant, default: 0] < settings.lastTries { return pause(1) }
        } else {
            rest(tenant, for: pause)
        }
        settling.remove(tenant)
        return nil
    }

    mutating func settleAgain(_ tenant: TenantID) {
        settling.remove(tenant)
        if outcomes[tenant] != nil { queue.append(tenant) }
    }

    // MARK: Resting

    /// What fails while a tenant rests is the same failure.
    mutating func rest(_ tenant: TenantID, for pause: (Int) -> Duration) {
        guard resting.insert(tenant).inserted else { return }
        failures[tenant, default: 0] += 1
        rests.append((tenant, pause(failures[tenant, default: 0])))
    }

    mutating func takeRests() -> [(tenant: TenantID, pause: Duration)] {
        defer { rests = [] }
        return rests
    }

    mutating func endRest(of tenant: TenantID) {
        resting.remove(tenant)
        if outcomes[tenant] != nil, !settling.contains(tenant), !queue.contains(tenant) {
            queue.append(tenant)
        }
    }

    // MARK: Ending

    mutating func drain() {
        isDrained = true
        resting = []
        failures = [:]
        queue = outcomes.keys.filter { !settling.contains($0) }
    }

    /// - Returns: How many outcomes are given up.
    mutating func abandon() -> Int {
        defer { (loans, loanCount, outcomes) = ([:], 0, [:]) }
        return outcomes.values.reduce(0) { $0 + $1.count }
    }
}
