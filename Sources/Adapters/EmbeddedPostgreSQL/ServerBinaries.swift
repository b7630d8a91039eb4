import Foundation

/// An installed release of PostgreSQL.
struct ServerBinaries {
    let directory: String
    /// The major version.
    let version: Int

    static let minimumVersion = 15

    /// Finds the newest release from 15 on, or the release that made the data.
    static func find(for dataVersion: Int?) throws(EmbeddedServerError) -> ServerBinaries {
        let found = candidates().compactMap(Self.init(directory:))
        if let dataVersion {
            guard let match = found.first(where: { $0.version == dataVersion }) else {
                throw .versionNotInstalled(dataVersion)
            }
            return match
        }
        guard let newest = found.max(by: { $0.version < $1.version }), newest.version >= minimumVersion else {
            throw .notInstalled(minimumVersion: minimumVersion)
        }
        return newest
    }

    func path(_ program: String) -> String {
        "\(directory)/\(program)"
    }

    private init?(directory: String) {
        self.directory = directory
        let programs = ["initdb", "pg_ctl", "pg_isready", "postgres"].map { "\(directory)/\($0)" }
        guard programs.allSatisfy(FileManager.default.isExecutableFile(atPath:)),
            // `postgres (PostgreSQL) 15.4 (Debian …)`
            let text = try? Command(path: programs[3], arguments: ["--version"]).runSuccessfully(),
            let number = text.split(separator: " ").first(where: { $0.first?.isNumber == true }),
            let version = Int(number.prefix(while: \.isNumber))
        else { return nil }
        self.version = version
    }

    /// The directory that `pg_config` in PATH reports, and then the usual directories of packages.
    private static func candidates() -> [String] {
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(
            String.init)
        let configured = search.map { "\($0)/pg_config" }
            .filter(FileManager.default.isExecutableFile(atPath:)).prefix(1)
            .compactMap { try? Command(path: $0, arguments: ["--bindir"]).runSuccessfully() }
        let packaged = [
            ("/usr/lib/postgresql", "", "/bin"), ("/usr/local", "pgsql", "/bin"), ("/usr", "pgsql", "/bin"),
            ("/opt/homebrew/opt", "postgresql", "/bin"), ("/usr/local/opt", "postgresql", "/bin"),
        ].flatMap { parent, prefix, suffix in
            ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [])
                .filter { $0.hasPrefix(prefix) }.map { "\(parent)/\($0)\(suffix)" }
        }
        return configured + packaged + search
    }
}
