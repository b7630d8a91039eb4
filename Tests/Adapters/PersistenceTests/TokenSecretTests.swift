import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

private typealias Instances = RegisteredInstances

@Suite struct TokenSecretTests {
    private static let other = String(repeating: "o", count: 32)

    private static func keys(_ secrets: String...) throws -> SealingKeys {
        try #require(SealingKeys(secrets: secrets))
    }

    @Test func sealedDataIsComparedWithSecrets() async throws {
        try await Instances.with { instances in
            let stored = PostgresTokenSecrets(instances.stores.routerPool)
            let (right, wrong) = (try Self.keys(Instances.secret), try Self.keys(Self.other))
            #expect(try await stored.compare(with: wrong) == .init())
            for number in 0..<3 {
                try await instances.register(
                    Instances.registration(
                        InstanceID(UUID()), tokens: [.device: Instances.token(number)]))
            }
            #expect(try await stored.compare(with: right) == .init(readable: 1))
            let foreign = try await stored.compare(with: wrong)
            #expect(foreign == .init(unreadable: 1) && foreign.opensNothing)
            let both = try await stored.compare(with: Self.keys(Self.other, Instances.secret))
            #expect(both == .init(readable: 1) && !both.opensNothing)

            // Another program seals with another secret.
            try await Instances(instances.stores, instances.tenant, secrets: [Self.other]).register(
                Instances.registration(InstanceID(UUID()), tokens: [.device: Instances.token(9)]))
            let some = try await stored.compare(with: right)
            #expect(some == .init(readable: 1, unreadable: 1) && !some.opensNothing)

            try await PostgresTokenSecrets(instances.stores.adminPool).forgetAll(but: wrong)
            #expect(try await stored.compare(with: right) == .init(unreadable: 1))
        }
    }

    /// Each table with sealed data has the trigger. The trigger fires for updates, too.
    @Test(arguments: ["push_tokens", "webhooks", "app_store_connections"])
    func eachSealedColumnStoresItsSecret(table: String) async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.insertSampleRows(of: tenant)
            let column = table == "push_tokens" ? "sealed" : "sealed_secret"
            try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(script: "DELETE FROM doorstep.token_secrets")
                    for id in ["0a0b0c0d", "01020304", "01020304"] {
                        try await connection.execute(
                            script: """
                                UPDATE doorstep.\(table) SET \(column) = decode('01\(id)' || repeat('ff', 60), 'hex')
                                """)
                    }
                    // For sealed data of another format, the ID of the secret is unknown.
                    try await connection.execute(
                        script: """
                            UPDATE doorstep.\(table) SET \(column) = decode('02' || repeat('ee', 60), 'hex')
                            """)
                    let stored = try await connection.execute(
                        "SELECT encode(secret_id, 'hex') FROM doorstep.token_secrets ORDER BY 1"
                    ).map { try $0.decode(at: 0, as: String.self) }
                    #expect(stored == ["01020304", "0a0b0c0d"])
                }
            }
        }
    }
}
