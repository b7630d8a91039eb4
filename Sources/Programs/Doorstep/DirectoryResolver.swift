import Administration
import Invocation
import Locations
import Routing
import Tenancy

/// Resolves invocations of one tenant as the API answers them.
struct DirectoryResolver: InvocationResolver {
    let table: RoutingTable
    let tenant: TenantID

    /// Records nothing, and believes any signature: whether a place is signed depends on the server's secret.
    private struct Bystander: PlaceSignatures, ConfirmationRecorder {
        func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool { true }
        func record(_ record: ConfirmationRecord, of tenant: TenantID) {}
    }

    private let directory = LocationDirectory(signatures: Bystander(), recorder: Bystander())

    init(table: RoutingTable, tenant: TenantID) {
        self.table = table
        self.tenant = tenant
    }

    func resolveStored(_ url: InvocationURL) -> Resolution {
        if let match = table.match(url, of: tenant),
            case .shortCode = table.experience(match).readIdentifier(in: url, by: match)
        {
            return .nothing(.shortCodeAgain)
        }
        return resolve(url)
    }

    func resolve(_ url: InvocationURL) -> Resolution {
        switch directory.lookUp(url, of: tenant, in: table) {
        case .found(_, let location): .location(location.identifier)
        case .doesNotMatch: .nothing(.doesNotMatch)
        case .noIdentifier: .nothing(.noIdentifier)
        case .unknownIdentifier: .nothing(.unknownIdentifier)
        }
    }
}
