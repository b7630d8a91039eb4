public import Foundation
public import Tenancy

/// The changes of a tenant's data with their actors, and the refused requests of its keys.
public protocol AuditLog: Sendable {
    /// At most `limit` entries before a given one, newest first.
    /// - Parameter filter: values of ``AuditEntry/filters``.
    func page(
        of tenant: TenantID, before: Int?, limit: Int, where filter: [String: String]
    ) async throws -> AuditLogPage

    /// At most `limit` refused requests before a given one, newest first.
    func refusedRequests(
        of tenant: TenantID, _ selection: RefusedRequestSelection, before: UUID?, limit: Int
    ) async throws -> [RefusedRequest]
}

/// A part of an audit log.
public struct AuditLogPage: Sendable {
    /// Newest first.
    public let entries: [AuditEntry]
    /// The entry before which the search goes on, if it stopped before it found enough entries. It examines a limited number of
    /// entries, so a page can have few entries or none although older ones match.
    public let stoppedAt: Int?

    public init(entries: [AuditEntry], stoppedAt: Int? = nil) {
        self.entries = entries
        self.stoppedAt = stoppedAt
    }
}

extension AuditEntry {
    /// The values by which entries can be selected.
    public static let filters = ["relation", "actor"]
}
