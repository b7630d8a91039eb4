import Administration
import Formats
import Foundation
import Invocation
import Lookups
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Keys that other keys create, with a login that may only manage one tenant.
@Suite struct KeyStoreTests {
    private static func withKeys(
        scopes: Scopes = .all, expiresAt: Date? = nil,
        _ body: (ManagedCatalogue, Stores, TenantID, KeyRecord, LiveLookupIndex) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let maker = try await stores.administration.createKey(
                KeyTests.key(number: 1), scopes: scopes, expiresAt: expiresAt, of: tenant)
            try await stores.database.withPool(as: .manager) { pool in
                let followed = FollowedTable(stores.routerPool)
                try await followed.running {
                    try await body(
                        ManagedCatalogue(pool, followedBy: followed.feed), stores, tenant, maker,
                        followed.live)
                }
            }
        }
    }

    /// A filter reads no more of a long log than a page may, and the pages together have all matches.
    @Test(arguments: ["actor", "relation"]) func auditLogPageExaminesBoundedEntries(
        filter: String
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let log = stores.administration.auditLog
            let examined = PostgresAuditLog.examined
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    _ = try await $0.execute(
                        """
                        INSERT INTO doorstep.audit_log (tenant_id, actor, action, relation, after)
                        SELECT \(tenant.uuid), CASE n WHEN 1 THEN 'wanted' ELSE 'other' END, 'insert',
                            CASE n WHEN 1 THEN 'wanted' ELSE 'other' END, '{}'
                        FROM generate_series(1, \(examined + 1)) AS n
                        """)
                }
            }
            let first = try await log.page(of: tenant, before: nil, limit: 5, where: [filter: "wanted"])
            #expect(first.entries.isEmpty && first.stoppedAt != nil)
            let second = try await log.page(
                of: tenant, before: first.stoppedAt, limit: 5, where: [filter: "wanted"])
            #expect(second.entries.map(\.actor) == ["wanted"] && second.stoppedAt == nil)
            // A page that has found enough entries has not stopped.
            let full = try await log.page(of: tenant, before: nil, limit: 5, where: [filter: "other"])
            #expect(full.entries.count == 5 && full.stoppedAt == nil)
        }
    }

    @Test(.timeLimit(.minutes(30))) func createdKeyIsUsableWhenReturned() async throws {
        try await Self.withKeys { catalogue, stores, tenant, maker, live in
            let keys = catalogue.keys
            let key = KeyTests.key(number: 2)
            let record = try await keys.create(
                key, named: nil, scopes: nil, locations: nil, expiresAt: nil, by: .key(maker.id), of: tenant)
            #expect(record.scopes == KeyKind.secret.usualScopes)
            #expect(live.current?.table.holder(of: key)?.scopes == record.scopes)
            #expect(try await keys.key(record.id, of: tenant) == record)
            let (next, successor) = try await keys.rotate(
                record.id, by: { kind, _ in KeyTests.key(kind, number: 3) }, oldExpiresAt: .distantFuture,
                by: .key(maker.id),
                of: tenant)
            #expect(live.current?.table.holder(of: next)?.key == successor.id)
            #expect(try await keys.revoke(record.id, by: .key(maker.id), of: tenant))
            #expect(live.current?.table.holder(of: key) == nil)
            let ids = try await keys.keys(of: tenant, after: nil, limit: 9).map(\.id)
            #expect(Set(ids) == [maker.id, record.id, successor.id])
            #expect(
                try await keys.keys(of: tenant, after: ids[0], limit: 9).map(\.id) == Array(ids.dropFirst()))

            let entries = try await catalogue.auditLog.page(
                of: tenant, before: nil, limit: 9, where: ["relation": "api_keys", "actor": maker.id.actor]
            ).entries
            #expect(entries.map(\.action) == [.update, .insert, .update, .insert])
            #expect(entries.map(\.id) == entries.map(\.id).sorted(by: >))
            let older = try await catalogue.auditLog.page(
                of: tenant, before: entries[1].id, limit: 1, where: [:]
            ).entries
            #expect(older == [entries[2]])
            let other = try await stores.createTenant("other")
            #expect(
                try await catalogue.auditLog.page(of: other, before: nil, limit: 9, where: [:]).entries
                    .allSatisfy { $0.relation == "tenants" })
        }
    }

    @Test(.timeLimit(.minutes(30))) func keyKeepsItsNameOverOtherChanges() async throws {
        try await Self.withKeys { catalogue, stores, tenant, maker, _ in
            let keys = catalogue.keys
            let name = try DisplayName("Café kiosk")
            let key = try await keys.create(
                KeyTests.key(number: 2), named: name, scopes: nil, locations: nil, expiresAt: nil,
                by: .key(maker.id), of: tenant)
            #expect(key.name == name)
            let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3_600)
            let shortened = try await keys.update(
                key.id, KeyChange(expiresAt: end), by: .key(maker.id), of: tenant)
            #expect(shortened.record.name == name && shortened.record.expiresAt == end)
            let (_, successor) = try await keys.rotate(
                key.id, by: { kind, _ in KeyTests.key(kind, number: 3) }, oldExpiresAt: end,
                by: .key(maker.id), of: tenant
            )
            #expect(successor.name == name)
            let renamed = try await keys.update(
                successor.id, KeyChange(name: try DisplayName("Kiosk")), by: .key(maker.id), of: tenant)
            #expect(renamed.record.name?.text == "Kiosk" && renamed.record.expiresAt == end)
            let unnamed = try await keys.update(
                successor.id, KeyChange(name: .some(nil)), by: .key(maker.id), of: tenant)
            #expect(unnamed.record.name == nil && unnamed.record.expiresAt == end)
            #expect(try await keys.key(key.id, of: tenant)?.name == name)
            // The audit log tells who renamed the key.
            let entry = try #require(
                try await catalogue.auditLog.page(of: tenant, before: nil, limit: 1, where: [:]).entries.first
            )
            #expect(entry.actor == maker.id.actor && entry.before?["name"] == "Kiosk")
            #expect(entry.after?["name"] == .null)
        }
    }

    @Test func createdKeyIsNeverWiderThanItsCreator() async throws {
        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3_600)
        let scopes: Scopes = [Scopes(.lookup), Scopes(.manageKeys)]
        try await Self.withKeys(scopes: scopes, expiresAt: end) { catalogue, stores, tenant, maker, _ in
            let keys = catalogue.keys
            let key = KeyTests.key(number: 2)
            for (scopes, expiresAt) in [
                (Scopes(.notify), end), (.all, end), (Scopes(.lookup), end + 1),
            ] as [(Scopes, Date)] {
                await #expect(throws: AdministrationError.widerKey) {
                    try await keys.create(
                        key, named: nil, scopes: scopes, locations: nil, expiresAt: expiresAt,
                        by: .key(maker.id),
                        of: tenant)
                }
            }
            let usual = try await keys.create(
                key, named: nil, scopes: nil, locations: nil, expiresAt: nil, by: .key(maker.id), of: tenant)
            #expect(usual.scopes == Scopes(.lookup) && usual.expiresAt == end)
            let wide = try await stores.administration.createKey(
                KeyTests.key(number: 3), scopes: .all, expiresAt: end, of: tenant)
            let lasting = try await stores.administration.createKey(
                KeyTests.key(number: 4), scopes: Scopes(.lookup), expiresAt: nil, of: tenant)
            for id in [wide.id, lasting.id] {
                await #expect(throws: AdministrationError.widerKey) {
                    try await keys.rotate(
                        id, by: { kind, _ in KeyTests.key(kind, number: 5) }, oldExpiresAt: end,
                        by: .key(maker.id),
                        of: tenant)
                }
                await #expect(throws: AdministrationError.widerKey) {
                    try await keys.revoke(id, by: .key(maker.id), of: tenant)
                }
            }
            #expect(try await keys.key(wide.id, of: tenant) == wide)
            let other = try await stores.createTenant("other")
            await #expect(throws: AdministrationError.keyNotActive) {
                try await keys.revoke(maker.id, by: .key(maker.id), of: other)
            }
            await #expect(throws: AdministrationError.keyNotActive) {
                try await keys.create(
                    key, named: nil, scopes: nil, locations: nil, expiresAt: nil, by: .key(maker.id),
                    of: other)
            }
            _ = try await stores.administration.revokeKey(maker.id, of: tenant)
            await #expect(throws: AdministrationError.keyNotActive) {
                try await keys.create(
                    key, named: nil, scopes: nil, locations: nil, expiresAt: nil, by: .key(maker.id),
                    of: tenant)
            }
        }
    }

    @Test func changeOfWiderKeyIsRejected() async throws {
        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3_600)
        let scopes: Scopes = [Scopes(.lookup), Scopes(.manageKeys)]
        try await Self.withKeys(scopes: scopes, expiresAt: end) { catalogue, stores, tenant, maker, _ in
            let keys = catalogue.keys
            for (number, scopes, expiresAt) in [
                (2, .all, end), (3, Scopes(.lookup), nil), (4, Scopes(.lookup), end + 60),
            ] as [(UInt32, Scopes, Date?)] {
                let wider = try await stores.administration.createKey(
                    KeyTests.key(number: number), scopes: scopes, expiresAt: expiresAt, of: tenant)
                for expiresAt in [end - 60, end, nil] {
                    await #expect(throws: AdministrationError.widerKey, "key \(number)") {
                        try await keys.update(
                            wider.id, KeyChange(expiresAt: .some(expiresAt)), by: .key(maker.id), of: tenant)
                    }
                }
                #expect(try await keys.key(wider.id, of: tenant) == wider)
            }
            let narrow = try await stores.administration.createKey(
                KeyTests.key(number: 5), scopes: Scopes(.lookup), expiresAt: end - 60, of: tenant)
            let extended = try await keys.update(
                narrow.id, KeyChange(expiresAt: .some(end)), by: .key(maker.id), of: tenant)
            #expect(extended.record.expiresAt == end)
            let own = try await keys.update(
                maker.id, KeyChange(expiresAt: .some(end - 60)), by: .key(maker.id), of: tenant)
            #expect(own.record.expiresAt == end - 60)
            await #expect(throws: AdministrationError.widerKey) {
                try await keys.update(
                    maker.id, KeyChange(expiresAt: .some(end)), by: .key(maker.id), of: tenant)
            }
        }
    }
}
