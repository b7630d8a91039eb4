import Administration
import Cards
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import PostgreSQL
import Tenancy
import TestSupport

@testable import Persistence

/// The stores of one database. Each store uses a pool with its own login.
struct Stores: Sendable {
    let database: MigratedDatabase
    let adminPool: ConnectionPool
    let appPool: ConnectionPool
    let routerPool: ConnectionPool

    var administration: PostgresAdministrationStore { .init(adminPool, actor: "operator:alice") }

    @discardableResult
    static func withStores<R: Sendable>(_ body: (Stores) async throws -> R) async throws -> R {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { adminPool in
                try await database.withPool(as: .app) { appPool in
                    try await database.withPool(as: .router) { routerPool in
                        try await body(
                            Stores(
                                database: database, adminPool: adminPool, appPool: appPool,
                                routerPool: routerPool))
                    }
                }
            }
        }
    }

    /// Runs the closure with the stores and one tenant.
    @discardableResult
    static func withTenant<R: Sendable>(
        _ body: (Stores, TenantID) async throws -> R
    ) async throws -> R {
        try await withStores { stores in
            try await body(stores, stores.createTenant("acme"))
        }
    }

    func createTenant(_ slug: String) async throws -> TenantID {
        try await administration.createTenant(slug: TenantSlug(slug), name: DisplayName("Tenant \(slug)")).id
    }

    func createClip(
        _ bundleID: String = "com.example.MyApp.Clip", multiBusiness: Bool = false, of tenant: TenantID
    ) async throws {
        try await administration.createClip(
            Clip(
                bundleID: BundleID(bundleID), teamID: TeamID("ABCDE12345"), isMultiBusiness: multiBusiness),
            of: tenant)
    }

    /// Imports a list of rows. The first row is on line 2.
    @discardableResult
    func importLocations(_ records: [LocationRecord], of tenant: TenantID) async throws -> ImportOutcome {
        try await administration.importLocations(of: tenant, Rows(records))
    }

    @discardableResult
    func importExperiences(_ records: [ExperienceRecord], of tenant: TenantID) async throws -> ImportOutcome {
        try await administration.importExperiences(of: tenant, Rows(records))
    }

    @discardableResult
    func importShortCodes(_ records: [ShortCode], of tenant: TenantID) async throws -> ImportOutcome {
        try await administration.importShortCodes(of: tenant, Rows(records))
    }

    /// Executes statements for a tenant with the role of the administration, for changes that its store does not offer.
    func administer(_ tenant: TenantID, _ script: String) async throws {
        try await adminPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(script: script)
        }
    }

    /// Turns a tenant into a test tenant, as superuser, because no role of servers, consoles or operators may.
    func markAsTest(_ tenant: TenantID) async throws {
        try await database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    "UPDATE doorstep.tenants SET is_test = true WHERE tenant_id = \(tenant.uuid)")
            }
        }
    }

    /// A lookup index with the current rows of the database.
    func loadTable() async throws -> LookupIndex {
        try await FollowedTable(routerPool).refreshed()
    }

    /// Waits until all older transactions of the server have ended, in all its databases.
    func waitForOthers() async throws {
        try await database.withSuperuser { pool in
            try await pool.withConnection { connection in
                let next: String = try await connection.execute(
                    "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
                ).one().decode(at: 0)
                while try await connection.execute(
                    "SELECT 1 WHERE pg_snapshot_xmin(pg_current_snapshot()) < \(next)::xid8"
                ).count == 1 {
                    try Task.checkCancellation()
                }
            }
        }
    }

    /// Waits until this number of sessions wait for a lock in this database.
    func waitForWaiters(_ number: Int = 1) async throws {
        while try await count(
            """
            SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE NOT granted AND datname = current_database()
            """
        ) < number {
            try Task.checkCancellation()
        }
    }

    /// The result of a count, read as superuser and therefore over all tenants.
    func count(_ query: Query) async throws -> Int {
        try await database.withSuperuser { pool in
            try await pool.withConnection { try await $0.execute(query).one().decode(at: 0, as: Int.self) }
        }
    }
}

extension LocationRecord {
    static func sample(
        _ identifier: String, name: String = "A place", latitude: Double = 37.334722,
        longitude: Double = -122.008889, radius: Double = 100, metadata: JSONObject = [:],
        details: JSONObject = [:], card: Card = Card()
    ) throws -> LocationRecord {
        try LocationRecord(
            identifier: LocationIdentifier(identifier), name: DisplayName(name),
            region: CircularRegion(
                center: Coordinate(latitude: latitude, longitude: longitude), radius: Distance(meters: radius)
            ),
            metadata: metadata, details: LocationDetails(details), card: card)
    }
}

extension ExperienceRecord {
    static func sample(
        _ url: String, kind: ExperienceKind = .advanced, clip: String = "com.example.MyApp.Clip",
        location: String? = nil, rule: String? = nil, title: String? = nil, subtitle: String? = nil
    ) throws -> ExperienceRecord {
        try ExperienceRecord(
            Experience(
                url: URLPrefix(url), kind: kind, clip: BundleID(clip),
                binding: LocationBinding(location: location, rule: rule)),
            title: title, subtitle: subtitle)
    }
}

extension ShortCode {
    static func sample(_ code: String, _ url: String = "https://example.com/long") throws -> ShortCode {
        try ShortCode(code: code, url: InvocationURL(url))
    }
}

extension ImportOutcome {
    static func done(_ added: Int, _ changed: Int, _ unchanged: Int) -> ImportOutcome {
        .done(ImportCounts(added: added, changed: changed, unchanged: unchanged))
    }

    /// The problems as `line: reason`; nil if the import succeeded.
    var problems: [String]? {
        if case .refused(let problems) = self {
            problems.first.map { "\($0.line): \($0.reason)" }
        } else {
            nil
        }
    }
}

/// The SQLSTATE of the server's error; nil if there is none.
func sqlState(_ body: () async throws -> Void) async throws -> String? {
    do {
        try await body()
        return nil
    } catch let error as PostgreSQLError {
        guard let state = error.sqlState else { throw error }
        return state
    }
}

extension PostgresAdministrationStore {
    func importExperiences(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<ExperienceRecord>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
    }

    func importShortCodes(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<ShortCode>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
    }
}
