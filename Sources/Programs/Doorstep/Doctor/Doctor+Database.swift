import Foundation
import Persistence
import PostgreSQL

/// The checks that need the database. Each check is made even if an earlier one failed.
extension Doctor {
    func database() async -> [DoctorFinding] {
        do {
            return try await options.database.withPool(migrates: false) { pool in
                let condition = try await DatabaseCondition(pool)
                return condition.findings(
                    connections: try? options.connectionCount(),
                    isEmbedded: options.database.embeddedPostgres != nil)
                    + (await schema(pool)) + (await tokenSecret(pool, condition))
                    + (await appStore(pool, condition))
            }
        } catch {
            return [
                .failed(
                    "database", Self.text(error),
                    "Check DATABASE_URL, the network and pg_hba.conf; 'psql \"$DATABASE_URL\"' uses the same settings."
                )
            ]
        }
    }

    private func schema(_ pool: ConnectionPool) async -> [DoctorFinding] {
        do {
            let (status, known) = (try await Schema.status(pool), Schema.migrations.count)
            guard status.isCurrent else {
                let error = CommandError.schemaIsBehind(database: status.version, needed: known)
                return [.failed("schema", "\(error)", "Run 'doorstep migrate' with the login of migrations.")]
            }
            guard status.version == known else {
                return [
                    .warning(
                        "schema", "version \(status.version) is newer than \(known), and compatible",
                        "Install the newer program on this machine.")
                ]
            }
            return [.ok("schema", "version \(known)")]
        } catch {
            return [
                .failed(
                    "schema", Self.text(error),
                    "Install the program of the other servers, or run 'doorstep migrate'.")
            ]
        }
    }

    private func tokenSecret(_ pool: ConnectionPool, _ condition: DatabaseCondition) async -> [DoctorFinding]
    {
        guard let keys = try? TokenSecrets.sealingKeys(), condition.canServe else { return [] }
        do {
            let comparison = try await PostgresTokenSecrets(pool).compare(with: keys)
            let remedy = "Set the secrets of the other servers, separated by commas, the newest first."
            if comparison.opensNothing {
                return [.failed("sealed data", "\(CommandError.foreignTokenSecret)", remedy)]
            }
            guard comparison.unreadable == 0 else {
                return [
                    .failed(
                        "sealed data",
                        "DOORSTEP_TOKEN_SECRET lacks \(comparison.unreadable) of \(comparison.unreadable + comparison.readable) secrets that sealed data",
                        remedy)
                ]
            }
            return [
                .ok(
                    "sealed data",
                    comparison.readable == 0 ? "nothing is sealed yet" : "DOORSTEP_TOKEN_SECRET opens it")
            ]
        } catch {
            return [.failed("sealed data", Self.text(error), "Correct the findings about the database.")]
        }
    }

    private func appStore(_ pool: ConnectionPool, _ condition: DatabaseCondition) async -> [DoctorFinding] {
        guard (try? TokenSecrets.sealingKeys()) != nil, condition.canServe else { return [] }
        do {
            return try await appStore(PostgresSyncChecks(serving: pool))
        } catch {
            return [
                .failed("App Store Connect", Self.text(error), "Correct the findings about the database.")
            ]
        }
    }
}

extension DatabaseCondition {
    /// Whether the login has the roles of a server.
    fileprivate var canServe: Bool { missingRoles.isEmpty }

    private var missingRoles: [String] { Self.rolesOfServer.filter { !roles.contains($0) } }

    /// The difference of the clocks in seconds that causes a warning, and the one that is too large for tokens and times of
    /// notifications. [ours]
    private static let (noticedDifference, largestDifference) = (1.0, 60.0)

    /// - Parameters:
    ///   - connections: The maximum number of connections of a server; nil if the settings cannot be read.
    ///   - isEmbedded: Whether the database is embedded. Its only login is then a superuser.
    fileprivate func findings(connections: Int?, isEmbedded: Bool) -> [DoctorFinding] {
        var findings = [releaseFinding]
        findings.append(isEmbedded ? .ok("login", "the embedded database has one login") : loginFinding)
        findings += [writeFinding, tableFinding, replicationFinding, clockFinding]
        if let connections { findings.append(connectionFinding(connections)) }
        return findings
    }

    private var releaseFinding: DoctorFinding {
        releaseNumber / 10_000 < Self.oldestRelease
            ? .failed(
                "database", "PostgreSQL \(release)",
                "Upgrade it to PostgreSQL \(Self.oldestRelease) or later.")
            : .ok("database", "PostgreSQL \(release), UTF8")
    }

    private var loginFinding: DoctorFinding {
        let remedy =
            "Run sql/roles.sql and deploy/postgres/create-logins.sql as a superuser, and use doorstep_serve_login."
        if isSuperuser || bypassesRowSecurity {
            return .warning(
                "login",
                isSuperuser ? ServerAdvice.superuser.rawValue : "\(login) bypasses row-level security", remedy
            )
        }
        guard missingRoles.isEmpty else {
            return .failed(
                "login", "\(login) is not a member of \(missingRoles.joined(separator: ", "))", remedy)
        }
        let others = roles.filter { !Self.rolesOfServer.contains($0) }
        guard others.isEmpty else {
            return .warning(
                "login",
                "\(login) is also a member of \(others.joined(separator: ", ")), which a server does not need",
                remedy)
        }
        return .ok("login", "\(login) has the roles of a server and no others")
    }

    private var writeFinding: DoctorFinding {
        if isStandby { return .failed("writes", ServerAdvice.standby.rawValue, ServerAdvice.standbyRemedy) }
        return .ok("writes", "the database accepts writes")
    }

    private var tableFinding: DoctorFinding {
        guard unprotectedTables.isEmpty else {
            return .failed(
                "row-level security", "it is not forced for \(unprotectedTables.joined(separator: ", "))",
                "As the owner: ALTER TABLE doorstep.NAME ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY."
            )
        }
        return .ok("row-level security", "it is forced for each table with tenants' rows")
    }

    private var replicationFinding: DoctorFinding {
        guard unusedSlots.isEmpty else {
            return .warning(
                "replication",
                "no standby uses the slot \(unusedSlots.joined(separator: ", ")), which keeps write-ahead log",
                "Start the standby, or run SELECT pg_drop_replication_slot('NAME').")
        }
        return .ok("replication", standbys == 0 ? "no standby" : "\(standbys) standbys receive changes")
    }

    private var clockFinding: DoctorFinding {
        let difference = abs(clockDifference)
        let seconds = String(format: "%.1f", difference)
        let detail = "the database's clock is \(seconds) s \(clockDifference < 0 ? "behind" : "ahead")"
        let remedy = "Synchronize both machines' clocks, for example with chrony."
        if difference > Self.largestDifference { return .failed("clock", detail, remedy) }
        return difference > Self.noticedDifference ? .warning("clock", detail, remedy) : .ok("clock", detail)
    }

    private func connectionFinding(_ needed: Int) -> DoctorFinding {
        let allowed = min(connectionLimit ?? .max, maximumConnections)
        guard allowed >= needed else {
            return .failed(
                "connections",
                "the database allows \(login) \(allowed) connections, and a server uses up to \(needed)",
                "Raise max_connections or the login's CONNECTION LIMIT, or lower --pool-size and --management-pool-size."
            )
        }
        return .ok("connections", "a server uses up to \(needed) of \(allowed)")
    }
}
