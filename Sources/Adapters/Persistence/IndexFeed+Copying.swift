import Foundation
import Lookups
import PostgreSQL
import Tenancy

/// Copies of tenants' catalogues, page by page.
extension IndexFeed {
    /// Records changes that the index gets with a copy of the tenant's catalogue.
    func note(_ changes: IndexChanges.OfCatalogue, of tenant: TenantID) {
        guard let list = copies[tenant] else {
            copies[tenant] = [CatalogueCopy(changes, pageLength: pageLength)]
            return
        }
        if list.count == 1, merging?.tenant == tenant || list[0].wouldStarve(by: changes) {
            copies[tenant]?.append(CatalogueCopy(changes, pageLength: pageLength))
        } else {
            copies[tenant]?[list.count - 1].note(changes)
        }
    }

    /// Copies a page of each tenant in turn, and puts complete copies into the table, until the next follow has to come first.
    /// - Throws: If the database does not respond.
    func copyWhatIsDue() async throws {
        while !Task.isCancelled {
            if let ready = copies.first(where: { $0.value[0].isReady }) {
                try await merge(ready.key, ready.value[0])
                continue
            }
            let due = copies.filter { $0.value[0].unfinished != nil && $0.value[0].isDue(at: .now) }
            guard let next = due.min(by: { $0.value[0].turn < $1.value[0].turn })?.key else { break }
            turns += 1
            copies[next]?[0].turn = turns
            guard try await copyPage(of: next) else { break }
        }
        // The follow after the last page reads the rows that changed in the meantime.
        if copies.values.contains(where: { $0[0].isDue(at: .now) }) { wake?.yield() }
    }

    /// - Returns: False if the database has changed, or everything must be read again.
    private func copyPage(of tenant: TenantID) async throws -> Bool {
        guard let copy = copies[tenant]?[0], let relation = copy.unfinished,
            let pages = copy.relations[relation], let server = position?.server
        else { return false }
        let load = loads
        do {
            let mode = TransactionMode(
                isolation: .repeatableRead, isReadOnly: true, statementTimeout: Self.followTimeout)
            let query = relation.page(of: tenant, after: pages.lastKey, length: copy.pageLength)
            let page = try await pool.withTransaction(as: .router, mode) { transaction -> CopiedRows? in
                try await Self.limitStatements(transaction)
                // Forces an ordered scan of the key's index. Without statistics the planner can prefer a sort.
                try await transaction.execute(
                    """
                    SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
                        set_config('enable_seqscan', 'off', true)
                    """)
                let name: String = try await transaction.execute("SELECT \(constant: Self.serverName)").one()
                    .decode(at: 0)
                // The next follow finds this out, too, and reads everything.
                guard name == server else { return nil }
                return try await transaction.copied(relation, query)
            }
            guard load == loads, let page else { return false }
            let isLast = page.count < copy.pageLength
            copies[tenant]?[0].add(page, to: pages.id, isLast: isLast, during: follows)
        } catch let error as PostgreSQLError {
            guard load == loads else { return false }
            // A temporarily slow database may still be fast enough for fewer rows.
            if error.isCancelledStatement, copies[tenant]?[0].shortenPages() == true { return true }
            fail(tenant, error)
            guard error.isOfStatement else { throw error }
        }
        return true
    }

    /// Replaces the tenant's rows in the index with a copy. Changes of other tenants continue in the meantime.
    private func merge(_ tenant: TenantID, _ copy: CatalogueCopy) async throws {
        guard let state = live.current else { return }
        let load = loads
        merging = (tenant, [])
        defer { merging = nil }
        var (table, unreadable) = try await copy.merged(into: state.table, of: tenant)
        guard load == loads, let now = live.current, let merging, let list = copies[tenant] else { return }
        for batch in merging.done { _ = try batch.apply(to: &table) }
        for batch in list[0].batches.dropFirst(copy.batches.count) {
            unreadable += try batch.apply(to: &table)
        }
        live.replace(by: table, from: .database, asOf: now.asOf)
        copies[tenant] = list.count > 1 ? [list[1]] : nil
        onEvent(
            .changed(
                rows: list[0].touched.count, relations: list[0].relations.count, unreadable: unreadable))
        if live.quarantined[tenant] != nil { release(tenant) }
        tellWaiters()
    }

    func fail(_ tenant: TenantID, _ error: any Error) {
        copies[tenant]?[0].retryLater(at: .now)
        guard let error = error as? PostgreSQLError, error.isOfStatement, live.quarantined[tenant] == nil
        else { return }
        live.setQuarantined(Date(), tenant)
        onEvent(.quarantined(tenant, error))
        tellWaiters()
    }

    func release(_ tenant: TenantID) {
        live.setQuarantined(nil, tenant)
        onEvent(.released(tenant))
    }
}
