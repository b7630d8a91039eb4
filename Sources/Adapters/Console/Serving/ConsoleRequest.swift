import Administration
import Foundation
import HTML
import HTTPSyntax
import Invocation
import Lookups
import Tenancy

/// A request of somebody who has signed in.
struct ConsoleRequest {
    /// What stands in the path in the place of parameters, decoded.
    let path: [String: String]
    let query: FormFields
    /// Empty for GET.
    var form = FormFields("")
    /// A file that was sent as it is; empty for all else.
    var file: [UInt8] = []
    let session: ConsoleSession
    let stores: ConsoleStores
    let now: Date

    /// Whether there are forms to show that change something; the database refuses what others ask for all the same.
    var mayChange: Bool { !session.access.isReadOnly }

    /// For what is to be refused before anything is done outside the database.
    /// - Throws: `ReadOnlyAccess`.
    func requireChange() throws {
        guard mayChange else { throw ReadOnlyAccess() }
    }

    /// What is of no tenant is like what is not there for who sees one alone.
    /// - Throws: ``ConsoleRefusal/notFound``.
    func requireAllTenants() throws {
        guard session.access.tenant == nil else { throw ConsoleRefusal.notFound }
    }

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
        guard let identifier = path["id"].flatMap(LocationIdentifier.init(pathComponent:)),
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

extension LocationIdentifier {
    /// As a component of a path. Browsers take `.` and `..` for steps (URL Standard §4.4), however they are encoded: these stand
    /// behind a tilde, and so does what begins with one itself.
    var pathComponent: String { [".", ".."].contains(text) || text.hasPrefix("~") ? "~" + text : text }

    /// Nil for what is no identifier.
    init?(pathComponent: String) {
        let text = pathComponent.hasPrefix("~") ? String(pathComponent.dropFirst()) : pathComponent
        guard let identifier = try? LocationIdentifier(text) else { return nil }
        self = identifier
    }
}
