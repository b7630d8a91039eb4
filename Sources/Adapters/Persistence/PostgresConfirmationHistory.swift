import AppAttest
public import Confirmations
import Foundation
import Invocation
public import PostgreSQL
import Receipts
public import Tenancy

/// Reads confirmations from PostgreSQL, as `doorstep_admin`, or for keys as `doorstep_manager`.
///
/// Each call has its own transaction, so that a long listing does not prevent the removal of old days.
public struct PostgresConfirmationHistory: ConfirmationHistory {
    private let pool: ConnectionPool
    private let role: DatabaseRole
    private let mode: TransactionMode

    public init(_ pool: ConnectionPool) {
        self.init(pool, as: .admin, timeout: .seconds(600))
    }

    /// Creates a history for requests, which wait less long than a command. The role is `doorstep_manager`.
    public init(managing pool: ConnectionPool) {
        self.init(pool, as: .manager, timeout: .seconds(30))
    }

    /// - Parameter timeout: The statement timeout, because counting may take a while.
    private init(_ pool: ConnectionPool, as role: DatabaseRole, timeout: Duration) {
        self.pool = pool
        self.role = role
        mode = TransactionMode(isReadOnly: true, statementTimeout: timeout)
    }

    public func latest(
        _ selection: ConfirmationSelection, of tenant: TenantID, before last: ConfirmationCursor? = nil,
        limit: Int
    ) async throws -> [RecordedConfirmation] {
        guard let last else {
            return try await records(
                of: tenant,
                """
                SELECT confirmation_id, location_identifier, outcome, source, minute, attestation
                FROM doorstep.confirmations
                WHERE tenant_id = \(tenant.uuid) AND minute >= \(selection.start) AND minute < \(selection.end)
                    AND \(selection)
                ORDER BY minute DESC, confirmation_id DESC LIMIT \(limit)
                """)
        }
        // The row comparison alone would not limit the partitions.
        return try await records(
            of: tenant,
            """
            SELECT confirmation_id, location_identifier, outcome, source, minute, attestation
                FROM doorstep.confirmations
            WHERE tenant_id = \(tenant.uuid) AND minute >= \(selection.start) AND minute < \(selection.end)
                AND minute <= \(last.minute) AND (minute, confirmation_id) < (\(last.minute), \(last.id))
                AND \(selection)
            ORDER BY minute DESC, confirmation_id DESC LIMIT \(limit)
            """)
    }

    public func oldest(
        _ selection: ConfirmationSelection, of tenant: TenantID, after last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation] {
        // The row comparison alone would not limit the partitions.
        let start = max(selection.start, last?.minute ?? .distantPast)
        return try await records(
            of: tenant,
            """
            SELECT confirmation_id, location_identifier, outcome, source, minute, attestation
                FROM doorstep.confirmations
            WHERE tenant_id = \(tenant.uuid) AND minute >= \(start) AND minute < \(selection.end)
                AND (minute, confirmation_id) > (\(last?.minute ?? .distantPast), \(last?.id ?? .lowest))
                AND \(selection)
            ORDER BY minute, confirmation_id LIMIT \(limit)
            """)
    }

    public func counts(
        _ selection: ConfirmationSelection, of tenant: TenantID
    ) async throws -> [ConfirmationCounts] {
        // All days of UTC have the same length. `date_trunc` would look up the time zone for each row.
        let rows = try await transaction(of: tenant) { transaction in
            try await transaction.execute(
                """
                SELECT date_bin('1 day', minute, '2000-01-01T00:00Z') AS day, outcome, count(*) FROM doorstep.confirmations
                WHERE tenant_id = \(tenant.uuid) AND minute >= \(selection.start) AND minute < \(selection.end)
                    AND \(selection)
                GROUP BY day, outcome
                """
            ).map { try $0.decode(Date.self, String.self, Int.self) }
        }
        var counts: [Date: [Confirmation.Outcome: Int]] = [:]
        for (day, outcome, count) in rows {
            guard let outcome = Confirmation.Outcome(rawValue: outcome) else {
                throw PersistenceError.unreadable("confirmations")
            }
            counts[day, default: [:]][outcome] = count
        }
        return counts.sorted { $0.key > $1.key }.map { ConfirmationCounts(day: $0.key, counts: $0.value) }
    }

    /// For keys, throws `StoreUnavailable` if the database does not respond.
    func transaction<Result: Sendable>(
        of tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await pool.withTenantTransaction(tenant, as: role, mode, body)
        } catch let error as PostgreSQLError where role == .manager && error.isNoResponse {
            throw StoreUnavailable(error)
        }
    }

    private func records(of tenant: TenantID, _ query: Query) async throws -> [RecordedConfirmation] {
        try await transaction(of: tenant) { transaction in
            try await transaction.execute(query).map { row in
                let (id, location, outcome, source, minute, attestation) = try row.decode(
                    UUID.self, String?.self, String.self, String.self, Date.self, Int.self)
                return try PersistenceError.reading("confirmations") {
                    guard let outcome = Confirmation.Outcome(rawValue: outcome),
                        let source = InvocationSource(rawValue: source),
                        let attestation = RequestAttestation.Grade(number: attestation)
                    else { throw PersistenceError.unreadable("confirmations") }
                    return RecordedConfirmation(
                        id: id,
                        record: ConfirmationRecord(
                            location: try location.map { text in try LocationIdentifier(text) },
                            outcome: outcome, source: source, attestation: attestation, minute: minute))
                }
            }
        }
    }
}

extension Query.StringInterpolation {
    /// Conditions with a location have a different text. With the same text, the planner would not use the index by location.
    mutating func appendInterpolation(_ selection: ConfirmationSelection) {
        if let location = selection.location {
            appendLiteral("location_identifier = ")
            appendInterpolation(location.text)
        } else {
            appendLiteral("true")
        }
        if let locations = selection.locations {
            appendLiteral(" AND location_identifier = ANY (")
            appendInterpolation(locations.map(\.text).sorted())
            appendLiteral("::text[])")
        }
    }
}

extension UUID {
    /// The first of all UUIDs.
    static let lowest = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// The last of all UUIDs.
    static let highest = UUID(
        uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
}
