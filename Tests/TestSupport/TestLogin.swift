import Foundation

/// A login of the test server. It is a member of one role of Doorstep, so that nothing works because of another role's rights. Only
/// `serve` has the roles that `deploy/postgres/create-logins.sql` gives a server.
public enum TestLogin: String, Sendable, CaseIterable {
    case migrate = "doorstep_test_migrate"
    case admin = "doorstep_test_admin"
    case app = "doorstep_test_app"
    case router = "doorstep_test_router"
    case manager = "doorstep_test_manager"
    case serve = "doorstep_test_serve"

    /// The roles that the login is a member of.
    public var roles: [String] {
        switch self {
        case .migrate: ["doorstep_owner"]
        case .admin: ["doorstep_admin"]
        case .app: ["doorstep_app"]
        case .router: ["doorstep_router"]
        case .manager: ["doorstep_manager"]
        case .serve: ["doorstep_app", "doorstep_router", "doorstep_manager"]
        }
    }

    /// A given server may require a password. It need not be secret.
    var password: String { rawValue }

    /// The connection string of a database with this login instead of the one in it.
    func conninfo(for database: String) -> String {
        // A later keyword wins; a URI names the user before its host.
        guard database.contains("://"), var url = URLComponents(string: database) else {
            return "\(database) user=\(rawValue) password=\(password)"
        }
        url.user = rawValue
        url.password = password
        return url.string ?? database
    }
}
