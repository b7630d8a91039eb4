import Administration
import Formats
import Foundation
import Invocation
import Lookups
import Persistence
import Tenancy

/// A request of a signed-in user.
struct ConsoleRequest {
    /// The decoded parameters of the path.
    let path: [String: String]
    let query: FormFields
    /// The form's fields. Empty for GET.
    var form = FormFields("")
    /// The uploaded file; empty for all other requests.
    var file: [UInt8] = []
    let session: ConsoleSession
    let stores: ConsoleStores
    let now: Date

    /// Whether pages show forms that change data. The database also refuses changes in read-only sessions.
    var mayChange: Bool { !session.access.isReadOnly }

    /// The actor in the audit log.
    var actor: Actor { .administrator(session.access.actor) }

    /// Refuses read-only sessions before effects outside the database.
    /// - Throws: `ReadOnlyAccess`.
    func requireChange() throws {
        guard mayChange else { throw ReadOnlyAccess() }
    }

    /// Hides pages without a tenant from sessions for one tenant.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func requireAllTenants() throws {
        guard session.access.tenant == nil else { throw ConsoleRefusal.notFound }
    }

    /// The tenant in the path. Tenants that the session may not see are not found.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func tenant() async throws -> Tenant {
        guard let slug = path["slug"].flatMap({ try? TenantSlug($0) }),
            let tenant = try await found({ try await stores.administration.tenant(slug) }),
            session.access.sees(tenant.id)
        else { throw ConsoleRefusal.notFound }
        return tenant
    }

    /// The location in the path.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func location(of tenant: Tenant) async throws -> LocationRecord {
        guard let location = try await itemInPath(LocationRecord.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        return location
    }

    /// The tenants that the session may see, by slug.
    func tenants() async throws -> [Tenant] {
        try await stores.administration.tenants().filter { session.access.sees($0.id) }
    }

    private func found<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let error as AdministrationError where error.code == "unknown_tenant" {
            return nil
        }
    }
}
