/// A database role of Doorstep. `sql/roles.sql` creates the roles.
enum DatabaseRole: String {
    /// For servers: reads one tenant's catalogue, and records confirmations.
    case app = "doorstep_app"
    /// For commands of operators, and the console.
    case admin = "doorstep_admin"
    /// For servers: reads the lookup index and due work of all tenants.
    case router = "doorstep_router"
    /// For management with keys: writes one tenant's catalogue, and reads its audit log and confirmations.
    case manager = "doorstep_manager"
}
