/// How much a ``LeaseLoop`` does at once, and how long it waits for what.
struct LeaseSettings: Sendable {
    /// Maximum number of unsettled leases.
    var total: Int
    /// Of that, of one lessee.
    var share: Int
    /// Of that, of all a tenant's lessees, those included of which something is about to be claimed; nil for no such bound.
    var tenantShare: Int?
    /// How much is claimed, and settled, at once.
    var batch: Int
    /// Whether lessees are claimed one after another, each getting the room that is left; else all at once.
    var isInTurn: Bool
    /// How many lessees are found by one look, at most; nil for all that have something due.
    var foundAtOnce: Int?
    /// For how many lessees outcomes are written down at once.
    var settlers: Int
    /// How long an outcome may wait for others to be written with it.
    var gathering = Duration.zero
    /// How long a lessee for which settling failed waits before it is tried again. It does not grow: what waits takes room.
    var settlingRest: Duration
    /// After how many polls in which none of its outcomes could be written a lessee gets nothing more: its loans could end,
    /// and be taken again here.
    var patience: Int
    /// How long something due can go unnoticed.
    var pollInterval: Duration
    /// Whether running work is cancelled when the loop is stopped; else the loop waits for it.
    var cutsOff: Bool
    /// How often the remaining results are settled after the last work.
    var lastTries: Int
}
