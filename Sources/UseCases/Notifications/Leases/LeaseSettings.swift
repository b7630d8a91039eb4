/// The limits and times of a ``LeaseLoop``.
struct LeaseSettings: Sendable {
    /// Maximum number of unsettled leases.
    var total: Int
    /// Of that, of one lessee.
    var share: Int
    /// The maximum for all lessees of a tenant together, including work that is about to be leased; nil for no such limit.
    var tenantShare: Int?
    /// The maximum number of leases that one claim takes, and of results that are stored at once.
    var batch: Int
    /// Whether lessees are claimed one after another, each getting the room that is left; else all at once.
    var isInTurn: Bool
    /// The maximum number of lessees that one search finds; nil for all lessees with due work.
    var foundAtOnce: Int?
    /// For how many lessees outcomes are written down at once.
    var settlers: Int
    /// The time for which a result waits for others, so that they are stored together.
    var gathering = Duration.zero
    /// The rest of a lessee after storing its results failed. It does not grow, because waiting results occupy room.
    var settlingRest: Duration
    /// After how many polls in which none of its outcomes could be written a lessee gets nothing more: its loans could end,
    /// and be taken again here.
    var patience: Int
    /// The longest time until due work is noticed.
    var pollInterval: Duration
    /// Whether running work is cancelled when the loop is stopped; else the loop waits for it.
    var cutsOff: Bool
    /// The number of attempts to store the remaining results after the end of work.
    var lastTries: Int
}
