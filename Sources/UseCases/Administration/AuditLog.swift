public import Tenancy

/// Who changed what of a tenant's.
public protocol AuditLog: Sendable {
    /// The newest first, from before one on, up to `limit`.
    /// - Parameter filter: values of ``AuditEntry/filters``.
    func entries(
        of tenant: TenantID, before: Int?, limit: Int, where filter: [String: String]
    ) async throws -> [AuditEntry]
}

extension AuditEntry {
    /// By what entries can be narrowed.
    public static let filters = ["relation", "actor"]
}
