import Foundation
import Lookups
import Tenancy

/// A copy of one tenant's catalogue, which is read from the database page by page and then put into the index.
///
/// Each page is a transaction with its own snapshot. The log of changes makes the pages consistent: the copy records rows that
/// change while pages are read, and the follow after the last page reads these rows again. Only then is the whole copy put into the
/// index, so that lookups see the tenant's catalogue before or after a transaction, never in between. If more than
/// ``IndexChanges/mostRows`` rows change, or one statement changes more than a thousand rows, the relation is copied again from its
/// start. ``mostRestarts`` limits the restarts.
struct CatalogueCopy {
    /// The pages of a relation that have been copied.
    struct Pages {
        let id = UUID()
        fileprivate(set) var pages: [CopiedRows] = []
        fileprivate(set) var isAtEnd = false

        /// The key after which the next page begins; nil for the first page.
        var lastKey: [String]? { pages.last?.lastKey }
    }

    private(set) var relations: [IndexRelation: Pages] = [:]
    /// Rows that changed while pages were read.
    private(set) var touched: IndexKeys
    /// The rows of ``touched`` that no follow has read since.
    private(set) var unread: IndexKeys
    /// Rows read by follows after the last page, in the order in which they were read.
    private(set) var batches: [IndexBatch] = []
    /// Whether all pages and rows are read.
    private(set) var isReady = false
    /// The transactions whose changes the index lacks until it contains the copy.
    private(set) var transactions: Set<UInt64>
    /// The number of the last follow that began before the last page arrived.
    private var lastPage = 0
    private var restarts = 0

    var pageLength: Int
    private let longestPage: Int
    /// The number of consecutive failures.
    private(set) var failures = 0
    private var retryAt: ContinuousClock.Instant?
    /// The number of its last turn. Turns are numbered without gaps.
    var turn = 0

    /// The maximum number of restarts. If a tenant changes its catalogue faster than it can be copied, the index then gets a copy
    /// in which a change may be incomplete. The next copy completes it. Otherwise the tenant would see no change until its changes
    /// pause. [ours]
    private static let mostRestarts = 3
    private static let longestPause = 60

    init(_ changes: IndexChanges.OfCatalogue, pageLength: Int) {
        touched = changes.rows
        unread = changes.rows
        transactions = changes.transactions
        self.pageLength = pageLength
        longestPage = pageLength
        for relation in changes.wholes { copyFromStart(relation) }
        unread = touched
    }

    /// A relation with missing pages.
    var unfinished: IndexRelation? {
        IndexRelation.allCases.first { relations[$0]?.isAtEnd == false }
    }

    /// Whether changes require a restart although the copy has reached the maximum number of restarts.
    func wouldStarve(by changes: IndexChanges.OfCatalogue) -> Bool {
        guard restarts >= Self.mostRestarts else { return false }
        var rows = touched
        rows.formUnion(changes.rows)
        return !changes.wholes.isEmpty || !rows.overflowing.isEmpty
    }

    /// Whether all pages were read before a follow began.
    func isComplete(before follow: Int) -> Bool { unfinished == nil && lastPage < follow }

    func isDue(at now: ContinuousClock.Instant) -> Bool { retryAt.map { $0 <= now } ?? true }

    // MARK: Changes

    /// Records changes that the pages may lack.
    mutating func note(_ changes: IndexChanges.OfCatalogue) {
        transactions.formUnion(changes.transactions)
        touched.formUnion(changes.rows)
        unread.formUnion(changes.rows)
        isReady = false
        let relations = changes.wholes.union(touched.overflowing)
        guard !relations.isEmpty else { return }
        restarts += 1
        for relation in relations { copyFromStart(relation) }
        // Rows that were read earlier are older than the new pages.
        (unread, batches) = (touched, [])
    }

    private mutating func copyFromStart(_ relation: IndexRelation) {
        relations[relation] = Pages()
        touched.remove(relation)
    }

    /// Takes rows that a follow has read after the last page: rows of ``unread``, and rows of the changes that the follow found.
    mutating func add(_ part: IndexBatch.Part, _ changes: IndexChanges.OfCatalogue?) {
        transactions.formUnion(changes?.transactions ?? [])
        touched.formUnion(changes?.rows ?? IndexKeys())
        unread = part.rest
        batches.append(part.batch)
        isReady = unread.isEmpty
        retryAt = nil
        if part.error == nil { pageLength = min(longestPage, pageLength * 2) }
    }

    // MARK: Pages

    /// Adds a requested page, unless the relation has been restarted since the request.
    mutating func add(_ page: CopiedRows, to pages: UUID, isLast: Bool, during follow: Int) {
        guard relations[page.relation]?.id == pages else { return }
        relations[page.relation]?.pages.append(page)
        relations[page.relation]?.isAtEnd = isLast
        lastPage = follow
        (failures, retryAt) = (0, nil)
        pageLength = min(longestPage, pageLength * 2)
    }

    /// Makes the next page shorter.
    /// - Returns: False if the page already has only one row.
    mutating func shortenPages() -> Bool {
        guard pageLength > 1 else { return false }
        pageLength = max(1, pageLength / 4)
        return true
    }

    mutating func retryLater(at now: ContinuousClock.Instant) {
        failures += 1
        retryAt = now + .seconds(min(1 << min(failures, 10), Self.longestPause))
    }

    mutating func retryNow() { retryAt = nil }

    // MARK: Result

    /// An index with the copied catalogue, and the number of rows that could not be read.
    ///
    /// The time depends on the sizes of the catalogue and of the index.
    @concurrent func merged(
        into table: LookupIndex, of tenant: TenantID
    ) async throws -> (table: LookupIndex, unreadable: Int) {
        var table = table
        var unreadable = 0
        for (relation, pages) in relations {
            table.removeAll(relation, of: tenant)
            for page in pages.pages { unreadable += try page.insert(into: &table) }
        }
        for batch in batches { unreadable += try batch.apply(to: &table) }
        table.settle()
        return (table, unreadable)
    }
}
