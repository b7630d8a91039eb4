import Administration
import Formats
import Foundation
import Invocation
import Lookups
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Persistence
@testable import Tenancy

@Suite struct KeyTests {
    static func key(_ kind: KeyKind = .secret, number: UInt32) -> APIKey {
        APIKey(kind, words: [UInt32](repeating: number * 0x1111_1111, count: 8))
    }

    @Test func keysAreCreatedListedAndRevoked() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let expiry = Date(timeIntervalSince1970: 4_000_000_000.125)
            let first = try await store.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            let second = try await store.createKey(
                Self.key(.publishable, number: 2), scopes: nil, expiresAt: expiry, of: tenant)
            #expect(first.kind == .secret && first.expiresAt == nil && first.revokedAt == nil)
            #expect(second.kind == .publishable && second.expiresAt == expiry)
            #expect(second.hint == Self.key(.publishable, number: 2).hint)
            #expect(try await store.keys(of: tenant) == [first, second])

            let revoked = try await store.revokeKey(first.id, of: tenant)
            #expect(revoked.id == first.id && revoked.revokedAt != nil)
            #expect(try await store.revokeKey(first.id, of: tenant) == revoked)
            #expect(try await store.keys(of: tenant) == [revoked, second])
        }
    }

    @Test func keyIsDeletedLongAfterItsRevocation() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            var records: [KeyRecord] = []
            for number in 1...4 {
                records.append(
                    try await store.createKey(
                        Self.key(number: UInt32(number)), scopes: nil, expiresAt: nil, of: tenant))
            }
            for (record, days) in zip(records, [KeyRetention.retention + 1, KeyRetention.retention - 1, 1]) {
                _ = try await store.revokeKey(record.id, of: tenant)
                try await stores.administer(
                    tenant,
                    """
                    UPDATE doorstep.api_keys SET revoked_at = now() - make_interval(days => \(days))
                    WHERE key_id = '\(record.id)'
                    """)
            }
            try await stores.database.withPool(as: .serve) { pool in
                for expected in [1, 0] {
                    let deleted = try await KeyRetention(pool).maintain()
                    #expect(deleted == expected)
                }
            }
            #expect(try await store.keys(of: tenant).map(\.id) == records.dropFirst().map(\.id))
            let entry = try await store.auditLog.page(
                of: tenant, before: nil, limit: 1, where: ["relation": "api_keys"]
            ).entries.first
            #expect(entry?.action == .delete && entry?.before?["hint"] == .string(records[0].hint))
            // A server's role can delete no key that is valid, or was revoked recently.
            let deleted = try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                return try await transaction.execute("DELETE FROM doorstep.api_keys").affectedRows
            }
            #expect(deleted == 1)
            #expect(try await store.keys(of: tenant).map(\.id) == records.dropFirst(2).map(\.id))
        }
    }

    @Test func anotherTenantsKeyIsUnknown() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let record = try await store.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            for (id, tenant) in [(record.id, other), (KeyID(UUID()), tenant)] {
                await #expect(throws: AdministrationError.unknownKey) {
                    try await store.revokeKey(id, of: tenant)
                }
                await #expect(throws: AdministrationError.unknownKey) {
                    try await store.rotateKey(
                        id, by: { _, _ in Self.key(number: 2) }, oldExpiresAt: .now, of: tenant)
                }
            }
            #expect(try await store.keys(of: tenant) == [record])
        }
    }

    @Test func keysOfTestTenantHaveTheirOwnPrefix() async throws {
        try await Stores.withStores { stores in
            let store = stores.administration
            let tenant = try await store.createTenant(
                slug: TenantSlug("trial"), name: DisplayName("Trial"), isTest: true)
            #expect(tenant.isTest && tenant.json["test"] == true)
            let (key, record) = try await store.keys.create(
                .secret, by: APIKey.generate, named: nil, scopes: nil, locations: nil, expiresAt: nil,
                by: .administrator("operator:test"), of: tenant.id)
            #expect(key.isTest && key.text.hasPrefix("dsk_test_"))
            #expect(record.hint.hasPrefix("dsk_test_") && record.hint.count == 13)
            let (next, _) = try await store.rotateKey(
                record.id, by: APIKey.generate, oldExpiresAt: .distantFuture, of: tenant.id)
            #expect(next.text.hasPrefix("dsk_test_"))
            #expect(try await stores.loadTable().holder(of: next) != nil)

            // Programs of older versions create keys without the mark.
            let refused = await #expect(throws: PostgreSQLError.self) {
                try await store.createKey(Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant.id)
            }
            #expect(refused?.isCheckViolation("api_keys_of_test_tenants") == true)

            let live = try await store.createTenant(slug: TenantSlug("live"), name: DisplayName("Live"))
            let (other, _) = try await store.keys.create(
                .publishable, by: APIKey.generate, named: nil, scopes: nil, locations: nil, expiresAt: nil,
                by: .administrator("operator:test"), of: live.id)
            #expect(!live.isTest && !other.isTest && !other.text.contains("test_"))
            await #expect(throws: PostgreSQLError.self) {
                try await store.createKey(
                    APIKey.generate(.secret, isTest: true), scopes: nil, expiresAt: nil, of: live.id)
            }
        }
    }

    @Test func rotationCreatesSuccessorOfTheSameKind() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let old = try await store.createKey(
                Self.key(.publishable, number: 1), scopes: nil, expiresAt: nil, of: tenant)
            let expiry = Date(timeIntervalSince1970: 4_000_000_000)
            let (key, record) = try await store.rotateKey(
                old.id, by: { kind, _ in Self.key(kind, number: 2) }, oldExpiresAt: expiry, of: tenant)
            #expect(key.kind == .publishable && record.kind == .publishable && record.expiresAt == nil)
            #expect(try await store.keys(of: tenant).map(\.expiresAt) == [expiry, nil])
            let table = try await stores.loadTable()
            #expect(table.holder(of: key)?.key == record.id)
            #expect(table.holder(of: Self.key(.publishable, number: 1))?.key == old.id)
            #expect(table.holder(of: Self.key(.publishable, number: 1), at: expiry) == nil)
            #expect(table.holder(of: key, at: expiry)?.key == record.id)

            #expect(try await store.keys(of: tenant).first?.expiresAt == expiry)
        }
    }

    /// A second rotation is refused. Otherwise, after losing the first successor, the second successor would expire together with
    /// the overlap.
    @Test func keyIsRotatedOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let old = try await store.createKey(Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            let overlap = Date.now.addingTimeInterval(86_400)
            let (_, lost) = try await store.rotateKey(
                old.id, by: { kind, _ in Self.key(kind, number: 2) }, oldExpiresAt: overlap, of: tenant)
            await #expect(throws: AdministrationError.keyRotated(lost.id)) {
                try await store.rotateKey(
                    old.id, by: { kind, _ in Self.key(kind, number: 3) }, oldExpiresAt: overlap, of: tenant)
            }
            let (_, next) = try await store.rotateKey(
                lost.id, by: { kind, _ in Self.key(kind, number: 3) }, oldExpiresAt: overlap, of: tenant)
            #expect(next.expiresAt == nil)
            #expect(try await store.keys(of: tenant).count == 3)
        }
    }

    /// Otherwise a rotation would turn a key with an expiry into a permanent key.
    @Test func successorExpiresWhenItsPredecessorWould() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let expiry = Date(timeIntervalSince1970: 4_000_000_000)
            let old = try await store.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: expiry, of: tenant)
            let overlap = expiry.addingTimeInterval(-86_400)
            let (_, record) = try await store.rotateKey(
                old.id, by: { kind, _ in Self.key(kind, number: 2) }, oldExpiresAt: overlap, of: tenant)
            #expect(record.expiresAt == expiry)
            #expect(try await store.keys(of: tenant).map(\.expiresAt) == [overlap, expiry])
            // The old key never outlives its successor.
            let (_, next) = try await store.rotateKey(
                record.id, by: { kind, _ in Self.key(kind, number: 3) }, oldExpiresAt: expiry + 1, of: tenant)
            #expect(next.expiresAt == expiry)
            #expect(try await store.keys(of: tenant).map(\.expiresAt) == [overlap, expiry, expiry])
        }
    }

    @Test func inactiveKeyIsNotRotated() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let revoked = try await store.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            _ = try await store.revokeKey(revoked.id, of: tenant)
            let expired = try await store.createKey(
                Self.key(number: 2), scopes: nil, expiresAt: Date(timeIntervalSince1970: 0), of: tenant)
            for id in [revoked.id, expired.id] {
                await #expect(throws: AdministrationError.keyNotActive) {
                    try await store.rotateKey(
                        id, by: { kind, _ in Self.key(kind, number: 3) }, oldExpiresAt: .distantFuture,
                        of: tenant)
                }
            }
            #expect(try await store.keys(of: tenant).count == 2)
        }
    }

    @Test func onlyActiveKeysHaveAHolder() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let expiry = Date(timeIntervalSince1970: 4_000_000_000.125)
            let record = try await store.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: expiry, of: tenant)
            _ = try await store.createKey(
                Self.key(number: 2), scopes: nil, expiresAt: Date(timeIntervalSince1970: 1), of: tenant)
            let revoked = try await store.createKey(
                Self.key(number: 3), scopes: nil, expiresAt: nil, of: tenant)
            _ = try await store.revokeKey(revoked.id, of: tenant)
            let foreign = try await store.createKey(
                Self.key(.publishable, number: 4), scopes: nil, expiresAt: nil, of: other)

            let followed = FollowedTable(stores.routerPool)
            var table = try await followed.refreshed()
            let holder = try #require(table.holder(of: Self.key(number: 1)))
            #expect(
                (holder.tenant, holder.key, holder.kind, holder.tenantIsSuspended)
                    == (tenant, record.id, .secret, false))
            #expect(table.holder(of: Self.key(number: 1), at: expiry.addingTimeInterval(-0.001)) != nil)
            #expect(table.holder(of: Self.key(number: 1), at: expiry) == nil)
            for number in [2, 3, 5] as [UInt32] {
                #expect(table.holder(of: Self.key(number: number)) == nil, "\(number)")
            }
            let stranger = try #require(table.holder(of: Self.key(.publishable, number: 4)))
            #expect((stranger.tenant, stranger.key, stranger.kind) == (other, foreign.id, .publishable))

            _ = try await store.setSuspended(true, TenantSlug("acme"))
            table = try await followed.refreshed()
            #expect(table.holder(of: Self.key(number: 1))?.tenantIsSuspended == true)
            #expect(table.holder(of: Self.key(.publishable, number: 4))?.tenantIsSuspended == false)

            try await stores.administer(
                other,
                """
                DELETE FROM doorstep.api_keys WHERE tenant_id = '\(other)';
                DELETE FROM doorstep.tenants WHERE tenant_id = '\(other)'
                """)
            table = try await followed.refreshed()
            #expect(table.holder(of: Self.key(.publishable, number: 4)) == nil)
            #expect(table.holder(of: Self.key(number: 1)) != nil)
        }
    }

    @Test func keyScopesMayBeNarrowedAndPassToSuccessor() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let key = Self.key(number: 1)
            let lookUp = Scopes(.lookup)
            let record = try await store.createKey(key, scopes: lookUp, expiresAt: nil, of: tenant)
            #expect(record.scopes == lookUp)
            let next = try await store.rotateKey(
                record.id, by: { kind, _ in Self.key(kind, number: 2) }, oldExpiresAt: .distantFuture,
                of: tenant)
            #expect(next.record.scopes == lookUp)
            let whole = try await store.createKey(
                Self.key(.publishable, number: 3), scopes: nil, expiresAt: nil, of: tenant)
            #expect(whole.scopes == KeyKind.publishable.scopes)
            let usual = try await store.createKey(
                Self.key(.secret, number: 4), scopes: nil, expiresAt: nil, of: tenant)
            #expect(usual.scopes.list == [.lookup, .confirm, .compose, .register, .notify])
            let all = try await store.createKey(
                Self.key(.secret, number: 5), scopes: .all, expiresAt: nil, of: tenant)
            #expect(all.scopes == .all)
            let table = try await stores.loadTable()
            #expect(table.holder(of: Self.key(.secret, number: 5))?.scopes == .all)
            #expect(table.holder(of: key)?.scopes == lookUp)
            #expect(table.holder(of: next.key)?.scopes == lookUp)
            #expect(table.holder(of: Self.key(.publishable, number: 3))?.scopes == KeyKind.publishable.scopes)
        }
    }

    /// Servers compare expiry with their own clock. A clock that is a day off shifts the expiry by a day, not more.
    @Test func clockADayOffShiftsExpiryByADay() async throws {
        try await Stores.withTenant { stores, tenant in
            let now = Date()
            let day = 86_400.0
            let key = Self.key(number: 1)
            _ = try await stores.administration.createKey(
                key, scopes: nil, expiresAt: now.addingTimeInterval(day / 2), of: tenant)
            let table = try await stores.loadTable()
            #expect(table.holder(of: key, at: now) != nil)
            #expect(table.holder(of: key, at: now.addingTimeInterval(day)) == nil)
            #expect(table.holder(of: key, at: now.addingTimeInterval(-day)) != nil)
        }
    }

    // MARK: Use

    @Test func dayOfLastUseIsWrittenOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let used = try await store.createKey(Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            let unused = try await store.createKey(
                Self.key(number: 2), scopes: nil, expiresAt: nil, of: tenant)
            let others = try await store.createKey(
                Self.key(number: 3), scopes: nil, expiresAt: nil, of: other)
            let queue = KeyUsageQueue(stores.appPool) { Issue.record($0) }
            let noon = Date(timeIntervalSince1970: 1_795_262_400)
            func days() async throws -> [String?] {
                try await store.keys(of: tenant).map(\.lastUsedOn)
                    + store.keys(of: other).map(\.lastUsedOn)
            }
            for _ in 0..<3 { queue.record(used.id, of: tenant, at: noon) }
            // Keys of another tenant and deleted keys are unknown to this tenant.
            queue.record(others.id, of: tenant, at: noon)
            queue.record(KeyID(UUID()), of: tenant, at: noon)
            queue.record(used.id, of: TenantID(UUID()), at: noon)
            await queue.flush()
            #expect(try await days() == ["2026-11-21", nil, nil])
            _ = unused
            queue.record(others.id, of: other, at: noon.addingTimeInterval(86_400))
            // A server whose clock is behind does not set the day back.
            queue.record(used.id, of: tenant, at: noon.addingTimeInterval(-86_400))
            await queue.flush()
            #expect(try await days() == ["2026-11-21", nil, "2026-11-22"])
            // Use of a key is not a change: it is not in the audit log, and servers are not notified.
            let entries =
                "SELECT count(*) FROM doorstep.audit_log WHERE relation = 'api_keys' AND action = 'update'"
            #expect(try await stores.count("\(unsafeSQL: entries)") == 0)
        }
    }

    @Test func unwrittenKeyUseIsRetriedAtNextFlush() async throws {
        try await Stores.withTenant { stores, tenant in
            let key = try await stores.administration.createKey(
                Self.key(number: 1), scopes: nil, expiresAt: nil, of: tenant)
            func lastUsedOn() async throws -> String? {
                try await stores.administration.keys(of: tenant).first?.lastUsedOn
            }
            func run(_ statement: String) async throws {
                try await stores.database.withSuperuser { pool in
                    try await pool.withConnection { try await $0.execute("\(unsafeSQL: statement)") }
                }
            }
            let failures = Mutex(0)
            let queue = KeyUsageQueue(stores.appPool) { _ in failures.withLock { $0 += 1 } }
            try await run("REVOKE UPDATE (last_used_on) ON doorstep.api_keys FROM doorstep_app")
            queue.record(key.id, of: tenant, at: Date(timeIntervalSince1970: 1_795_262_400))
            for count in 1...2 {
                await queue.flush()
                #expect(failures.withLock { $0 } == count)
            }
            #expect(try await lastUsedOn() == nil)
            try await run("GRANT UPDATE (last_used_on) ON doorstep.api_keys TO doorstep_app")
            await queue.flush()
            #expect(failures.withLock { $0 } == 2)
            #expect(try await lastUsedOn() == "2026-11-21")
        }
    }

    /// Otherwise a server with many tenants would need minutes to stop, or to try again.
    @Test func unreachableDatabaseIsTriedOncePerFlush() async throws {
        let nowhere = PoolConfiguration(
            conninfo: "host=/nonexistent dbname=doorstep", acquireTimeout: .milliseconds(200))
        try await ConnectionPool.withPool(nowhere) { pool in
            let failures = Mutex(0)
            let queue = KeyUsageQueue(pool) { _ in failures.withLock { $0 += 1 } }
            for _ in 0..<20 { queue.record(KeyID(UUID()), of: TenantID(UUID()), at: Date()) }
            for count in 1...2 {
                await queue.flush()
                #expect(failures.withLock { $0 } == count)
            }
        }
    }

    /// Neither the database nor the statements that it receives contain a plain key.
    @Test func keysAreNeverStoredOrSentInClear() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .admin, { $0.maximumConnections = 1 }) { admin in
                try await stores.database.withPool(as: .router, { $0.maximumConnections = 1 }) { router in
                    let one = Stores(
                        database: stores.database, adminPool: admin, appPool: stores.appPool,
                        routerPool: router)
                    let key = Self.key(number: 1)
                    let old = try await one.administration.createKey(
                        key, scopes: nil, expiresAt: nil, of: tenant)
                    let next = try await one.administration.rotateKey(
                        old.id, by: { kind, _ in Self.key(kind, number: 2) }, oldExpiresAt: .distantFuture,
                        of: tenant
                    ).key
                    let table = try await one.loadTable()
                    #expect(table.holder(of: key) != nil && table.holder(of: next) != nil)

                    var texts: [String] = []
                    for (pool, statement) in [
                        (admin, "UPDATE doorstep.api_keys"), (router, "doorstep.change_horizon"),
                    ] {
                        let prepared = try await pool.withConnection { connection in
                            try await connection.execute("SELECT statement FROM pg_prepared_statements")
                                .map { try $0.decode(at: 0, as: String.self) }
                        }
                        #expect(prepared.contains { $0.contains(statement) })
                        texts += prepared
                    }
                    texts += try await one.database.withSuperuser { pool in
                        try await pool.withTransaction { transaction in
                            var texts = try await transaction.execute(
                                "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
                            ).map { try $0.decode(at: 0, as: String.self) }
                            for table in try await transaction.tenantTables() {
                                texts += try await transaction.execute(
                                    "SELECT t::text FROM doorstep.\(identifier: table) t"
                                ).map { try $0.decode(at: 0, as: String.self) }
                            }
                            return texts
                        }
                    }
                    #expect(texts.contains { $0.contains(key.hint) })
                    for secret in [key, next] {
                        let body = secret.text.dropFirst(secret.hint.count)
                        #expect(!texts.contains { $0.contains(body) })
                    }
                }
            }
        }
    }
}

extension LookupIndex {
    /// The tenant and rights of a plain key.
    func holder(of key: APIKey, at now: Date = .now) -> KeyHolder? {
        keyHolder(digest: key.digest.span, at: now)
    }
}
