import Administration
import Foundation
import Persistence
import PostgreSQL
import PropertyTesting
import Tenancy
import TestSupport
import Testing

@Suite struct KeyTests {
    private static func key(_ kind: KeyKind = .secret, seed: UInt64) -> APIKey {
        var random = SplitMix64(seed: seed)
        return APIKey.generate(kind, using: &random)
    }

    @Test func createsListsAndRevokes() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let expiry = Date(timeIntervalSince1970: 4_000_000_000.125)
            let first = try await store.createKey(Self.key(seed: 1), expiresAt: nil, of: tenant)
            let second = try await store.createKey(
                Self.key(.publishable, seed: 2), expiresAt: expiry, of: tenant)
            #expect(first.kind == .secret && first.expiresAt == nil && first.revokedAt == nil)
            #expect(second.kind == .publishable && second.expiresAt == expiry)
            #expect(second.hint == Self.key(.publishable, seed: 2).hint)
            #expect(try await store.keys(of: tenant) == [first, second])

            let revoked = try await store.revokeKey(first.id, of: tenant)
            #expect(revoked.id == first.id && revoked.revokedAt != nil)
            #expect(try await store.revokeKey(first.id, of: tenant) == revoked)
            #expect(try await store.keys(of: tenant) == [revoked, second])
        }
    }

    @Test func anotherTenantsKeyIsUnknown() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let record = try await store.createKey(Self.key(seed: 1), expiresAt: nil, of: tenant)
            for (id, tenant) in [(record.id, other), (KeyID(UUID()), tenant)] {
                await #expect(throws: AdministrationError.unknownKey) {
                    try await store.revokeKey(id, of: tenant)
                }
                await #expect(throws: AdministrationError.unknownKey) {
                    try await store.rotateKey(
                        id, to: { _ in Self.key(seed: 2) }, oldExpiresAt: .now, of: tenant)
                }
            }
            #expect(try await store.keys(of: tenant) == [record])
        }
    }

    @Test func rotationGivesASuccessorOfTheSameKind() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let old = try await store.createKey(Self.key(.publishable, seed: 1), expiresAt: nil, of: tenant)
            let expiry = Date(timeIntervalSince1970: 4_000_000_000)
            let (key, record) = try await store.rotateKey(
                old.id, to: { Self.key($0, seed: 2) }, oldExpiresAt: expiry, of: tenant)
            #expect(key.kind == .publishable && record.kind == .publishable && record.expiresAt == nil)
            #expect(try await store.keys(of: tenant).map(\.expiresAt) == [expiry, nil])
            #expect(try await stores.authenticator.authenticate(key)?.key == record.id)
            #expect(
                try await stores.authenticator.authenticate(Self.key(.publishable, seed: 1))?.key == old.id)

            // A later time than the key has does not make it live longer.
            _ = try await store.rotateKey(
                old.id, to: { Self.key($0, seed: 3) }, oldExpiresAt: expiry + 1, of: tenant)
            #expect(try await store.keys(of: tenant).first?.expiresAt == expiry)
        }
    }

    @Test func aKeyThatIsNotActiveIsNotRotated() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let revoked = try await store.createKey(Self.key(seed: 1), expiresAt: nil, of: tenant)
            _ = try await store.revokeKey(revoked.id, of: tenant)
            let expired = try await store.createKey(
                Self.key(seed: 2), expiresAt: Date(timeIntervalSince1970: 0), of: tenant)
            for id in [revoked.id, expired.id] {
                await #expect(throws: AdministrationError.keyNotActive) {
                    try await store.rotateKey(
                        id, to: { Self.key($0, seed: 3) }, oldExpiresAt: .distantFuture, of: tenant)
                }
            }
            #expect(try await store.keys(of: tenant).count == 2)
        }
    }

    @Test func authenticatesActiveKeysAlone() async throws {
        try await Stores.withTenant { stores, tenant in
            let (store, authenticator) = (stores.administration, stores.authenticator)
            let other = try await stores.createTenant("other")
            let record = try await store.createKey(
                Self.key(seed: 1), expiresAt: .distantFuture, of: tenant)
            _ = try await store.createKey(
                Self.key(seed: 2), expiresAt: Date(timeIntervalSince1970: 1), of: tenant)
            let revoked = try await store.createKey(Self.key(seed: 3), expiresAt: nil, of: tenant)
            _ = try await store.revokeKey(revoked.id, of: tenant)
            let foreign = try await store.createKey(
                Self.key(.publishable, seed: 4), expiresAt: nil, of: other)

            #expect(
                try await authenticator.authenticate(Self.key(seed: 1))
                    == Principal(tenant: tenant, key: record.id, kind: .secret, tenantIsSuspended: false))
            for seed in [2, 3, 5] as [UInt64] {
                #expect(try await authenticator.authenticate(Self.key(seed: seed)) == nil, "\(seed)")
            }
            #expect(
                try await authenticator.authenticate(Self.key(.publishable, seed: 4))
                    == Principal(tenant: other, key: foreign.id, kind: .publishable, tenantIsSuspended: false)
            )

            _ = try await store.setSuspended(true, TenantSlug("acme"))
            #expect(try await authenticator.authenticate(Self.key(seed: 1))?.tenantIsSuspended == true)
            #expect(
                try await authenticator.authenticate(Self.key(.publishable, seed: 4))?.tenantIsSuspended
                    == false)
        }
    }

    /// Neither what the server keeps nor what it was sent as a statement holds a key.
    @Test func aKeyIsNeverWithTheServerInClear() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .admin, { $0.maximumConnections = 1 }) { admin in
                try await stores.database.withPool(as: .app, { $0.maximumConnections = 1 }) { app in
                    let one = Stores(database: stores.database, adminPool: admin, appPool: app)
                    let key = Self.key(seed: 1)
                    let old = try await one.administration.createKey(key, expiresAt: nil, of: tenant)
                    let next = try await one.administration.rotateKey(
                        old.id, to: { Self.key($0, seed: 2) }, oldExpiresAt: .distantFuture, of: tenant
                    ).key
                    #expect(try await one.authenticator.authenticate(key) != nil)
                    #expect(try await one.authenticator.authenticate(next) != nil)

                    var texts: [String] = []
                    for (pool, statement) in [
                        (admin, "INSERT INTO doorstep.api_keys"), (app, "authenticate($1)"),
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
