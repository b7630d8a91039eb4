public import Tenancy

/// The changes of a tenant's data, with their actors.
public protocol AuditLog: Sendable {
    /// At most `limit` entries before a given one, newest first.
    /// - Parameter filter: values of ``AuditEntry/filters``.
    func entries(
        of tenant: TenantID, before: Int?, limit: Int, where filter: [String: String]
    ) async throws -> [AuditEntry]
}

extension AuditEntry {
    /// The values by which entries can be selected.
    public static let filters = ["relation", "actor"]
}
