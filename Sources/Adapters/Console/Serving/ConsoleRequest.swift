import Administration
import Foundation
import HTML
import Invocation
import Routing
import Tenancy

/// A request of somebody who has signed in.
struct ConsoleRequest {
    /// What stands in the path in the place of parameters, decoded.
    let path: [String: String]
    let query: FormFields
    /// Empty for GET.
    let form: FormFields
    /// A file that was sent as it is; empty for all else.
    var file: [UInt8] = []
    let session: ConsoleSession
    let stores: ConsoleStores
    let now: Date

    /// The tenant of the path. One that the session is not for is like one that is not there.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func tenant() async throws -> Tenant {
        guard let slug = path["slug"].flatMap({ try? TenantSlug($0) }),
            let tenant = try await found({ try await stores.tenants.tenant(slug) }),
            session.access.sees(tenant.id)
        else { throw ConsoleRefusal.notFound }
        return tenant
    }

    /// The location of the path.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func location(of tenant: Tenant) async throws -> LocationRecord {
        guard let identifier = path["id"].flatMap({ try? LocationIdentifier($0) }),
            let location = try await stores.items.locations.item(identifier, of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        return location
    }

    /// The tenants that the session is for, by slug.
    func tenants() async throws -> [Tenant] {
        try await stores.tenants.tenants().filter { session.access.sees($0.id) }
    }

    private func found<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let error as AdministrationError where error.code == "unknown_tenant" {
            return nil
        }
    }
}
