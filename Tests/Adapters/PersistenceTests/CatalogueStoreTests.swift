import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// The catalogue as keys manage it, with a login that has only the role `doorstep_manager`.
@Suite struct CatalogueStoreTests {
    private struct Fixture {
        let stores: Stores
        let tenant: TenantID
        let catalogue: ManagedCatalogue
        let live: LiveLookupIndex
        /// A key with all scopes.
        let key: KeyID

        var locations: any CatalogueStore<LocationRecord> { catalogue.items.locations }
        var table: TenantTable? { live.current?.table(of: tenant) }
    }

    /// Runs the closure with a catalogue whose changes a lookup index follows, with an hour between polls.
    private static func withCatalogue(_ body: (Fixture) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            let key = try await Self.key(1, of: tenant, stores)
            try await stores.database.withPool(as: .manager, { $0.maximumConnections = 8 }) { pool in
                let followed = FollowedTable(stores.routerPool)
                try await followed.running {
                    try await body(
                        Fixture(
                            stores: stores, tenant: tenant,
                            catalogue: ManagedCatalogue(pool, followedBy: followed.feed),
                            live: followed.live, key: key))
                }
            }
        }
    }

    private static func key(_ number: UInt32, of tenant: TenantID, _ stores: Stores) async throws -> KeyID {
        try await stores.administration.createKey(
            KeyTests.key(number: number), scopes: .all, expiresAt: nil, of: tenant
        ).id
    }

    private static func id(_ text: String) throws -> LocationIdentifier { try LocationIdentifier(text) }

    @Test(.timeLimit(.minutes(30))) func changeIsVisibleWhenReturned() async throws {
        try await Self.withCatalogue { fixture in
            let (store, tenant) = (fixture.locations, fixture.tenant)
            let a = try LocationRecord.sample("a", metadata: ["k": "v"])
            let created = try await store.change(a.key, of: tenant, by: "key:1") { before in
                #expect(before == nil)
                return a
            }
            #expect(created.before == nil && created.after == a && created.isVisible)
            #expect(fixture.table?.location(a.identifier)?.region.radius.meters == 100)
            #expect(try await store.item(a.key, of: tenant) == a)

            // An unchanged item is not written.
            let again = try await store.change(a.key, of: tenant, by: "key:2") { _ in a }
            #expect(again.before == a && again.isVisible)

            let wide = try LocationRecord.sample("a", radius: 200)
            let changed = try await store.change(a.key, of: tenant, by: "key:3") { before in
                #expect(before == a)
                return wide
            }
            #expect(changed.before == a && changed.after == wide && changed.isVisible)
            #expect(fixture.table?.location(a.identifier)?.region.radius.meters == 200)
            // Metadata is not part of the index, so there is nothing to wait for.
            let quiet = try LocationRecord.sample("a", radius: 200, metadata: ["q": "1"])
            #expect(try await store.change(a.key, of: tenant, by: "key:4") { _ in quiet }.isVisible)

            let deletion = try await store.delete(a.key, of: tenant, by: "key:5", cascade: false) { _ in }
            #expect(
                deletion.isVisible && deletion.rows == [RowCount(relation: "locations", count: 1)])
            #expect(fixture.table?.location(a.identifier) == nil)
            let history = try await fixture.stores.administration.history(of: a.key, of: tenant, limit: 9)
            #expect(history.map(\.actor) == ["key:5", "key:4", "key:3", "key:1"])
            #expect(history.allSatisfy { $0.login == TestLogin.manager.rawValue })
        }
    }

    @Test(.timeLimit(.minutes(30))) func concurrentUpdatesAreNotLost() async throws {
        try await Self.withCatalogue { fixture in
            let (store, tenant) = (fixture.locations, fixture.tenant)
            let writers = 8
            let rounds = 10
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for round in 0..<rounds {
                            // At first, all writers create the item at once. A writer that reaches its lock timeout tries again.
                            var isWritten = false
                            while !isWritten {
                                do {
                                    _ = try await store.change(Self.id("n"), of: tenant, by: "key:\(writer)")
                                    {
                                        before in
                                        var metadata = before?.metadata ?? [:]
                                        metadata["\(writer)-\(round)"] = "x"
                                        return try .sample("n", metadata: metadata)
                                    }
                                    isWritten = true
                                } catch is StoreUnavailable {}
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let item = try await store.item(Self.id("n"), of: tenant)
            #expect(item?.metadata.count == writers * rounds)
        }
    }

    @Test func rejectedChangeChangesNothing() async throws {
        struct Refused: Error {}
        try await Self.withCatalogue { fixture in
            let (store, tenant) = (fixture.locations, fixture.tenant)
            let a = try LocationRecord.sample("a")
            await #expect(throws: Refused.self) {
                try await store.change(a.key, of: tenant, by: "") { _ in throw Refused() }
            }
            #expect(try await store.item(a.key, of: tenant) == nil)
            _ = try await store.change(a.key, of: tenant, by: "") { _ in a }
            await #expect(throws: Refused.self) {
                try await store.delete(a.key, of: tenant, by: "", cascade: true) { _ in throw Refused() }
            }
            #expect(try await store.item(a.key, of: tenant) == a)
            let b = try Self.id("b")
            await #expect(throws: AdministrationError.unknownLocation(b)) {
                try await store.delete(b, of: tenant, by: "", cascade: true) { _ in }
            }
        }
    }

    @Test func dependentsPreventDeletionWithoutCascade() async throws {
        try await Self.withCatalogue { fixture in
            let (catalogue, tenant) = (fixture.catalogue, fixture.tenant)
            let clip = try Clip(
                bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                isMultiBusiness: true)
            let a = try LocationRecord.sample("a")
            let experience = try ExperienceRecord.sample("https://example.com/a", location: "a")
            await #expect(throws: AdministrationError.unknownClip(clip.bundleID)) {
                try await catalogue.items.experiences.change(experience.key, of: tenant, by: "") { _ in
                    experience
                }
            }
            _ = try await catalogue.items.clips.change(clip.key, of: tenant, by: "") { _ in clip }
            await #expect(throws: AdministrationError.unknownLocation(a.key)) {
                try await catalogue.items.experiences.change(experience.key, of: tenant, by: "") { _ in
                    experience
                }
            }
            _ = try await catalogue.items.locations.change(a.key, of: tenant, by: "") { _ in a }
            _ = try await catalogue.items.experiences.change(experience.key, of: tenant, by: "") { _ in
                experience
            }
            let bound = [
                Dependents(
                    RowCount(relation: "experiences", count: 1), first: ["advanced https://example.com/a"])
            ]
            await #expect(throws: AdministrationError.inUse("location 'a'", by: bound)) {
                try await catalogue.items.locations.delete(a.key, of: tenant, by: "", cascade: false) { _ in }
            }
            await #expect(throws: AdministrationError.inUse("clip \(clip.bundleID)", by: bound)) {
                try await catalogue.items.clips.delete(clip.key, of: tenant, by: "", cascade: false) { _ in }
            }
            let gone = try await catalogue.items.clips.delete(
                clip.key, of: tenant, by: "", cascade: true
            ) { _ in }
            #expect(gone.isVisible && gone.rows.last == RowCount(relation: "clips", count: 1))
            #expect(gone.rows.contains(RowCount(relation: "experiences", count: 1)))
            #expect(try await catalogue.items.experiences.item(experience.key, of: tenant) == nil)
            #expect(try await catalogue.items.locations.item(a.key, of: tenant) == a)
        }
    }

    @Test func pagesAreOrderedAndFiltered() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            try await stores.createClip(of: tenant)
            try await stores.createClip("com.example.Other.Clip", of: tenant)
            try await stores.importLocations(["a", "b", "B", "\u{e9}"].map { try .sample($0) }, of: tenant)
            var names: [String] = []
            var last: LocationIdentifier?
            while let item = try await catalogue.items.locations.items(
                of: tenant, after: last, limit: 1, where: [:]
            ).first {
                names.append(item.identifier.text)
                last = item.identifier
            }
            #expect(names == ["B", "a", "b", "\u{e9}"])

            let records: [ExperienceRecord] = try [
                .sample("https://example.com/a", location: "a"),
                .sample("https://example.com/b", location: "b"),
                .sample("https://example.com/a", kind: .demo),
                .sample("https://example.com/c", clip: "com.example.Other.Clip", location: "a"),
            ]
            try await stores.importExperiences(records, of: tenant)
            for (filter, indices) in [
                ([:], [0, 1, 3, 2]), (["url": "https://example.com/a"], [0, 2]), (["kind": "demo"], [2]),
                (["location": "a"], [0, 3]), (["clip": "com.example.Other.Clip"], [3]),
                (["location": "a", "clip": "com.example.MyApp.Clip"], [0]), (["location": "x"], []),
            ] as [([String: String], [Int])] {
                let found = try await catalogue.items.experiences.items(
                    of: tenant, after: nil, limit: 9, where: filter)
                #expect(found == indices.map { records[$0] }, "\(filter)")
            }
            let rest = try await catalogue.items.experiences.items(
                of: tenant, after: records[1].key, limit: 9, where: [:])
            #expect(rest == [records[3], records[2]])
        }
    }

    @Test func anotherTenantsItemsAreOutOfReach() async throws {
        try await Self.withCatalogue { fixture in
            let (store, tenant) = (fixture.locations, fixture.tenant)
            let other = try await fixture.stores.createTenant("other")
            let a = try LocationRecord.sample("a")
            _ = try await store.change(a.key, of: tenant, by: "") { _ in a }
            #expect(try await store.item(a.key, of: other) == nil)
            #expect(try await store.items(of: other, after: nil, limit: 9, where: [:]).isEmpty)
            await #expect(throws: AdministrationError.unknownLocation(a.key)) {
                try await store.delete(a.key, of: other, by: "", cascade: true) { _ in }
            }
            let theirs = try LocationRecord.sample("a", radius: 7)
            _ = try await store.change(a.key, of: other, by: "") { before in
                #expect(before == nil)
                return theirs
            }
            #expect(try await store.item(a.key, of: tenant) == a)
            await #expect(throws: AdministrationError.tenantDeleted) {
                try await store.change(a.key, of: TenantID(UUID()), by: "") { _ in a }
            }
        }
    }

    // MARK: Whole collections

    @Test(.timeLimit(.minutes(30))) func importedCollectionIsVisibleWhenReturned() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            let other = try await stores.createTenant("other")
            try await stores.importLocations([.sample("theirs")], of: other)
            try await stores.createClip(of: tenant)
            let locations = try (0..<1_000).map { try LocationRecord.sample("l\($0)") }
            let options = ImportOptions(prunes: true, allowedRemovals: 1)
            let added = try await catalogue.items.locations.importRows(
                Rows(locations), of: tenant, by: .key(fixture.key), options)
            #expect(added.outcome == .done(1_000, 0, 0) && added.isVisible)
            #expect(try fixture.table?.location(Self.id("l999")) != nil)
            let experiences = try await catalogue.items.experiences.importRows(
                Rows([try ExperienceRecord.sample("https://example.com/a", location: "l1")]), of: tenant,
                by: .key(fixture.key), options
            )
            #expect(experiences.outcome == .done(1, 0, 0) && experiences.isVisible)
            let codes = try await catalogue.items.shortCodes.importRows(
                Rows([try ShortCode.sample("c")]), of: tenant, by: .key(fixture.key), options)
            #expect(codes.outcome == .done(1, 0, 0) && codes.isVisible)

            // Writing the same rows again, or a dry run, changes nothing.
            let entries = try await stores.count("SELECT count(*) FROM doorstep.audit_log")
            let again = try await catalogue.items.locations.importRows(
                Rows(locations.reversed()), of: tenant, by: .key(fixture.key), options)
            #expect(again.outcome == .done(0, 0, 1_000) && again.isVisible)
            _ = try await catalogue.items.locations.importRows(
                Rows(Array(locations.dropFirst(5))), of: tenant, by: .key(fixture.key),
                ImportOptions(prunes: true, isDryRun: true))
            #expect(try await stores.count("SELECT count(*) FROM doorstep.audit_log") == entries)

            let replaced = try await catalogue.items.locations.importRows(
                Rows(Array(locations.dropLast())), of: tenant, by: .key(fixture.key), options)
            #expect(
                replaced.outcome
                    == .done(ImportCounts(added: 0, changed: 0, removed: 1, unchanged: 999))
                    && replaced.isVisible)
            #expect(try fixture.table?.location(Self.id("l999")) == nil)
            #expect(try await stores.administration.locations(of: other, after: nil, limit: 9).count == 1)
            let history = try await stores.administration.history(of: Self.id("l999"), of: tenant, limit: 9)
            #expect(history.map(\.actor) == [fixture.key.actor, fixture.key.actor])
        }
    }

    /// While rows arrive, nothing in the catalogue is locked. A server runs one import of a tenant at a time.
    @Test(.timeLimit(.minutes(30))) func incomingRowsBlockNoOtherWriter() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            let other = try await stores.createTenant("other")
            let otherKey = try await Self.key(2, of: other, stores)
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            let rows = Rows<LocationRecord>([
                { .row(try .sample("a", radius: 1), line: 1) },
                {
                    let changed = try await catalogue.items.locations.change(
                        Self.id("a"), of: tenant, by: "key:1"
                    ) { _ in try .sample("a", radius: 2) }
                    #expect(changed.isVisible)
                    await #expect(throws: AdministrationError.conflict) {
                        try await catalogue.items.shortCodes.importRows(
                            Rows([ShortCode]()), of: tenant, by: .key(fixture.key), ImportOptions())
                    }
                    let theirs = try await catalogue.items.locations.importRows(
                        Rows([try LocationRecord.sample("a")]), of: other, by: .key(otherKey), ImportOptions()
                    )
                    #expect(theirs.outcome == .done(1, 0, 0))
                    // The operator's import has all its rows already, so it finishes first.
                    #expect(
                        try await stores.importLocations([.sample("c")], of: tenant) == .done(1, 0, 0))
                    return .row(try .sample("b", radius: 1), line: 2)
                },
            ])
            let outcome = try await catalogue.items.locations.importRows(
                rows, of: tenant, by: .key(fixture.key), ImportOptions(prunes: true))
            #expect(
                outcome.outcome == .done(ImportCounts(added: 0, changed: 2, removed: 1, unchanged: 0)))
        }
    }

    @Test(.timeLimit(.minutes(30))) func concurrentImportOfSameTenantConflicts() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            let rows = Rows<LocationRecord>([
                {
                    await #expect(throws: AdministrationError.conflict) {
                        try await catalogue.items.locations.importRows(
                            Rows([try LocationRecord.sample("b")]), of: tenant, by: .key(fixture.key),
                            ImportOptions())
                    }
                    return .row(try .sample("a"), line: 2)
                }
            ])
            // An operator's import blocks other imports until its end.
            let outcome = try await stores.administration.importLocations(of: tenant, rows)
            #expect(outcome == .done(1, 0, 0))
            let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 9)
            #expect(stored.map(\.identifier.text) == ["a"])
        }
    }

    @Test func interruptedImportChangesNothing() async throws {
        struct Gone: Error {}
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            let rows = (0..<2_000).map { number -> Rows<LocationRecord>.Step in
                { .row(try .sample("\(number)"), line: number + 2) }
            }
            for _ in 0..<2 {
                await #expect(throws: Gone.self) {
                    try await catalogue.items.locations.importRows(
                        Rows(rows + [{ throw Gone() }]), of: tenant, by: .key(fixture.key), ImportOptions())
                }
            }
            let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 9)
            #expect(stored.map(\.identifier.text) == ["a"])
            let refused = try await catalogue.items.locations.importRows(
                Rows([try LocationRecord.sample("x"), try .sample("x")]), of: tenant, by: .key(fixture.key),
                ImportOptions())
            #expect(refused.outcome.problems == ["3: identifier: it is on line 2 already"])
            await #expect(throws: AdministrationError.tenantDeleted) {
                try await catalogue.items.locations.importRows(
                    Rows([try LocationRecord.sample("x")]), of: TenantID(UUID()), by: .key(fixture.key),
                    ImportOptions())
            }
        }
    }

    /// The key may be revoked, or the tenant suspended, while the rows arrive.
    @Test(.timeLimit(.minutes(30))) func importByRevokedKeyOrSuspendedTenantIsRejected() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, catalogue, tenant) = (fixture.stores, fixture.catalogue, fixture.tenant)
            let slug = try TenantSlug("acme")
            for isDryRun in [false, true] {
                let suspending = Rows<LocationRecord>([
                    {
                        _ = try await stores.administration.setSuspended(true, slug)
                        return .row(try .sample("a"), line: 2)
                    }
                ])
                await #expect(throws: AdministrationError.tenantSuspended) {
                    try await catalogue.items.locations.importRows(
                        suspending, of: tenant, by: .key(fixture.key), ImportOptions(isDryRun: isDryRun))
                }
                _ = try await stores.administration.setSuspended(false, slug)
            }
            let revoking = Rows<LocationRecord>([
                {
                    _ = try await stores.administration.revokeKey(fixture.key, of: tenant)
                    return .row(try .sample("a"), line: 2)
                }
            ])
            await #expect(throws: AdministrationError.keyNotActive) {
                try await catalogue.items.locations.importRows(
                    revoking, of: tenant, by: .key(fixture.key), ImportOptions())
            }
            #expect(try await stores.administration.locations(of: tenant, after: nil, limit: 9).isEmpty)
        }
    }

    /// Two servers replace the collection at once. The result is the rows of one of them.
    @Test(.timeLimit(.minutes(30))) func concurrentReplacementsAreNotMixed() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, tenant, key) = (fixture.stores, fixture.tenant, fixture.key)
            let writers = 4
            try await stores.database.withPool(as: .manager, { $0.maximumConnections = 4 }) { pool in
                let followed = FollowedTable(stores.routerPool)
                try await followed.running {
                    let servers = [
                        fixture.catalogue.items.locations,
                        ManagedCatalogue(pool, followedBy: followed.feed).items.locations,
                    ]
                    for _ in 0..<5 {
                        let done = try await withThrowingTaskGroup(of: Int?.self) { group in
                            for writer in 0..<writers {
                                group.addTask {
                                    // Each file has some rows of its own and some rows that others have, too.
                                    let rows = try (0..<50).map {
                                        try LocationRecord.sample(
                                            $0 < 25 ? "all-\($0)" : "\(writer)-\($0)", name: "of \(writer)")
                                    }
                                    do {
                                        _ = try await servers[writer % 2].importRows(
                                            Rows(rows), of: tenant, by: .key(key),
                                            ImportOptions(prunes: true, allowedRemovals: 50))
                                        return writer
                                    } catch AdministrationError.conflict {
                                        return nil
                                    }
                                }
                            }
                            return try await group.reduce(into: []) { done, writer in
                                if let writer { done.append(writer) }
                            }
                        }
                        #expect(!done.isEmpty)
                        let stored = try await stores.administration.locations(
                            of: tenant, after: nil, limit: 999)
                        let names = Set(stored.map(\.name.text))
                        #expect(stored.count == 50 && names.count == 1, "\(names)")
                        #expect(done.contains { names == ["of \($0)"] })
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(30))) func keyProvesDomain() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, store, tenant) = (fixture.stores, fixture.catalogue.items.domains, fixture.tenant)
            let name = try DomainName("example.com")
            let claim = DomainRecord(name: name, challenge: "one", claimedAt: DomainTests.now)
            let claimed = try await store.change(name, of: tenant, by: "key:1") { before in
                #expect(before == nil)
                return claim
            }
            #expect(claimed.before == nil && claimed.isVisible)
            #expect(try await store.item(name, of: tenant) == claim)

            let world = OutsideWorld()
            let verification = DomainVerification(
                store: store, by: "key:2", resolver: world, fetcher: world)
            let missing = try await verification.verify(name, of: tenant, at: DomainTests.now)
            #expect(missing.lack != nil && missing.record == claim)
            world.publish(claim)
            let proved = try await verification.verify(name, of: tenant, at: DomainTests.now)
            #expect(proved.record.status == .proved && proved.isVisible)
            #expect(fixture.live.current?.table.site(ofHost: name.text)?.tenant == tenant)
            #expect(
                try await stores.administration.domain(name, of: tenant)
                    == claim.proved(
                        by: .dns, at: DomainTests.now))

            // A clip of the tenant must not be named as an app. The refusal changes nothing.
            try await stores.createClip(of: tenant)
            let swapped = try AssociationContent(
                parsing: #"{"applinks":{"details":[{"appID":"ABCDE12345.com.example.MyApp.Clip"}]}}"#.utf8)
            await #expect(throws: AssociationContentError.self) {
                try await store.change(name, of: tenant, by: "") { before in
                    try #require(before).with(swapped)
                }
            }
            let content = try AssociationContent(["x": 1])
            let kept = try await store.change(name, of: tenant, by: "key:3") { before in
                try #require(before).with(content)
            }
            #expect(kept.after.content == content && kept.after.status == .proved && kept.isVisible)

            // Another tenant claims the domain, too, and cannot prove it.
            let other = try await stores.createTenant("other")
            let theirs = DomainRecord(name: name, challenge: "two", claimedAt: DomainTests.now)
            _ = try await store.change(name, of: other, by: "") { _ in theirs }
            world.publish(claim, [claim.recordValue, theirs.recordValue])
            await #expect(throws: AdministrationError.domainTaken(name)) {
                try await DomainVerification(
                    store: store, by: "", resolver: world, fetcher: world
                ).verify(name, of: other, at: DomainTests.now)
            }
            let released = try await store.delete(name, of: tenant, by: "key:4", cascade: false) { _ in }
            #expect(released.isVisible)
            #expect(fixture.live.current?.table.site(ofHost: name.text) == nil)
            #expect(
                try await stores.count(
                    """
                    SELECT count(*) FROM doorstep.audit_log
                    WHERE relation = 'domains' AND tenant_id = \(tenant.uuid) AND actor LIKE 'key:_'
                    """) == 4)
        }
    }

    @Test(.timeLimit(.minutes(30))) func keyChangesItsTenant() async throws {
        try await Self.withCatalogue { fixture in
            let (stores, store, tenant) = (fixture.stores, fixture.catalogue.tenant, fixture.tenant)
            let other = try await stores.createTenant("other")
            let before = try await store.tenant(tenant)
            let change = try await store.change(tenant, by: "key:1") {
                try $0.patched(
                    by: ["name": "New", "collapsePolicy": "url", "corsOrigins": ["https://a.example"]])
            }
            #expect(change.before == before && change.isVisible)
            #expect(change.after.name.text == "New" && change.after.collapsePolicy == .url)
            #expect(try await store.tenant(tenant).corsOrigins.map(\.text) == ["https://a.example"])
            #expect(try await store.tenant(tenant) == change.after)
            #expect(try await stores.administration.tenants().contains(change.after))
            #expect(try await store.tenant(other).collapsePolicy == CollapsePolicy.none)
            // An unchanged tenant is not written.
            _ = try await store.change(tenant, by: "key:2") { $0 }
            #expect(
                try await stores.count(
                    """
                    SELECT count(*) FROM doorstep.audit_log
                    WHERE relation = 'tenants' AND tenant_id = \(tenant.uuid) AND actor LIKE 'key:_'
                    """) == 1)
            await #expect(throws: AdministrationError.tenantDeleted) {
                try await store.tenant(TenantID(UUID()))
            }
        }
    }

    /// Rows are staged in a temporary table, so writers of the real table do not wait.
    @Test func stagingLocksNoTable() async throws {
        func check<Item: ImportedResource>(_: Item.Type, _ transaction: TenantTransaction) async throws {
            try await transaction.execute(Item.stagingTable)
            let locks = try await transaction.execute(
                """
                SELECT count(*) FROM pg_locks
                WHERE pid = pg_backend_pid() AND relation = \("doorstep.\(Item.relation)")::regclass
                """)
            let count: Int = try locks.one().decode(at: 0)
            #expect(count == 0, "\(Item.relation)")
            let others = try await transaction.execute(
                """
                SELECT s.attname::text FROM pg_attribute s
                WHERE s.attrelid = 'pg_temp.staged'::regclass AND s.attnum > 2 AND NOT EXISTS (
                    SELECT FROM pg_attribute t
                    WHERE t.attrelid = \("doorstep.\(Item.relation)")::regclass AND t.attname = s.attname
                        AND t.atttypid = s.atttypid AND t.attcollation = s.attcollation)
                """)
            let names = try others.map { row in try row.decode(at: 0, as: String.self) }
            #expect(names.isEmpty, "\(Item.relation): \(names)")
            try await transaction.execute("DROP TABLE pg_temp.staged")
        }
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .manager) { pool in
                try await pool.withTenantTransaction(tenant, as: .manager) { transaction in
                    try await check(LocationRecord.self, transaction)
                    try await check(ExperienceRecord.self, transaction)
                    try await check(ShortCode.self, transaction)
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(30))) func importsOfOtherTenantsWaitInOrder() async throws {
        let imports = RunningImports(maximum: 1)
        let tenants = (0..<4).map { _ in TenantID(UUID()) }
        let order = Order()
        func waiting(_ number: Int) -> Task<Void, any Error> {
            Task { try await imports.with(tenants[number]) { order.add(number) } }
        }
        var tasks: [Task<Void, any Error>] = []
        try await imports.with(tenants[0]) {
            for number in 1..<4 {
                tasks.append(waiting(number))
                while imports.waitingCount < number { await Task.yield() }
            }
            for number in [0, 2] {
                await #expect(throws: AdministrationError.conflict) {
                    try await imports.with(tenants[number]) {}
                }
            }
            #expect(order.all == [])
        }
        for task in tasks { try await task.value }
        #expect(order.all == [1, 2, 3])

        // A cancelled import blocks no other import.
        try await imports.with(tenants[0]) {
            let givenUp = waiting(1)
            while imports.waitingCount < 1 { await Task.yield() }
            tasks = [waiting(2)]
            while imports.waitingCount < 2 { await Task.yield() }
            givenUp.cancel()
            await #expect(throws: CancellationError.self) { try await givenUp.value }
        }
        for task in tasks { try await task.value }
        #expect(order.all == [1, 2, 3, 2])
    }

    /// After the timeout, the import blocks no other import.
    @Test(.timeLimit(.minutes(30))) func importWaitingTooLongIsRejected() async throws {
        let imports = RunningImports(maximum: 1, patience: .milliseconds(20))
        let tenants = (0..<2).map { _ in TenantID(UUID()) }
        try await imports.with(tenants[0]) {
            await #expect(throws: AdministrationError.tooManyImports) {
                try await imports.with(tenants[1]) { Issue.record("the import began") }
            }
            #expect(imports.waitingCount == 0)
        }
        try await imports.with(tenants[1]) {}
    }

    @Test(.timeLimit(.minutes(30))) func smallImportDoesNotWaitForLargeImport() async throws {
        let tenants = (0..<4).map { _ in TenantID(UUID()) }
        let imports = RunningImports(maximum: 1, maximumSmall: 1, patience: .milliseconds(20))
        let order = Order()
        try await imports.with(tenants[0]) {
            await #expect(throws: AdministrationError.conflict) {
                try await imports.with(tenants[0], isSmall: true) {}
            }
            try await imports.with(tenants[1], isSmall: true) {
                order.add(1)
                // Neither a second small import nor a second large one has a turn.
                for (tenant, isSmall) in [(tenants[2], true), (tenants[3], false)] {
                    await #expect(throws: AdministrationError.tooManyImports) {
                        try await imports.with(tenant, isSmall: isSmall) { order.add(2) }
                    }
                }
            }
            try await imports.with(tenants[2], isSmall: true) { order.add(3) }
        }
        #expect(order.all == [1, 3])
        // If small imports have no turns of their own, they wait for the others.
        let few = RunningImports(maximum: 1, patience: .milliseconds(20))
        try await few.with(tenants[0]) {
            await #expect(throws: AdministrationError.tooManyImports) {
                try await few.with(tenants[1], isSmall: true) { order.add(4) }
            }
            #expect(few.waitingCount == 0)
        }
        try await few.with(tenants[1], isSmall: true) { order.add(5) }
        #expect(order.all == [1, 3, 5])
    }

    /// Records the order in which imports run.
    private final class Order: Sendable {
        private let numbers = Mutex<[Int]>([])

        var all: [Int] { numbers.withLock(\.self) }

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    @Test func snapshotSeesEndedTransactionsOnly() throws {
        let snapshot = try #require(TransactionSnapshot("10:20:10,14"))
        #expect([9, 11, 13, 19].allSatisfy(snapshot.sees))
        #expect(![10, 14, 20, 21].contains(where: snapshot.sees))
        #expect(try #require(TransactionSnapshot("10:10:")).sees(9))
        #expect(TransactionSnapshot("10:20") == nil && TransactionSnapshot("") == nil)
    }
}
