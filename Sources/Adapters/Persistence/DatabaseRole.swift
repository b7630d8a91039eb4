/// A role that Doorstep works as; `sql/roles.sql` creates them.
enum DatabaseRole: String {
    /// The server's: reads one tenant's catalogue, records confirmations.
    case app = "doorstep_app"
    /// The administration commands'.
    case admin = "doorstep_admin"
    /// The server's, too: reads what routing needs, of every tenant.
    case router = "doorstep_router"
    /// The server's, for managing: writes one tenant's catalogue, reads its audit log and confirmations.
    case manager = "doorstep_manager"
}
