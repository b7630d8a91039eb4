import Administration
import Notifications
import Synchronization
import Tenancy

/// Which tenants' imports are under way in this server: one of each, and only so many at once.
final class ImportsUnderWay: Sendable {
    private let tenants = Mutex<Set<TenantID>>([])
    private let maximum: Int

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// - Throws: `AdministrationError.conflict` where one of the tenant's is under way;
    ///   `NotificationStoreError.unavailable` where as many of others are as may be.
    func with<Result>(_ tenant: TenantID, _ body: () async throws -> Result) async throws -> Result {
        try tenants.withLock { tenants in
            guard !tenants.contains(tenant) else { throw AdministrationError.conflict }
            guard tenants.count < maximum else { throw NotificationStoreError.unavailable }
            tenants.insert(tenant)
        }
        defer { tenants.withLock { _ = $0.remove(tenant) } }
        return try await body()
    }
}
