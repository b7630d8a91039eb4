import Foundation

extension TestServer {
    /// A connection string for one of the server's databases, as superuser.
    static func conninfo(database: String) async throws -> String {
        let conninfo = try await conninfo()
        // A later keyword wins; a URI names the database in its path.
        guard conninfo.contains("://"), var url = URLComponents(string: conninfo) else {
            return "\(conninfo) dbname=\(database)"
        }
        url.path = "/\(database)"
        return url.string ?? conninfo
    }
}
