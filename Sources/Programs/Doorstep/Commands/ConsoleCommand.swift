import Administration
import ArgumentParser
import Console
import Formats
import Foundation
import Invocation
import Logging
import Persistence
import Platform
import PostgreSQL
import Tenancy

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Serve the operators' console, and manage its sessions.",
        discussion: """
            The console has its own port, and the rights of the administration commands, which 'doorstep serve' does \
            not have. Everyone who can run 'doorstep console link' with such a login can sign in. The login in \
            DATABASE_URL must be a member of doorstep_admin, doorstep_app and doorstep_router.

            By default the console listens on the loopback address only. To reach it from another machine, forward a \
            port by ssh. Or put a TLS proxy in front that passes Host on, and name its origin with --console-origin. \
            If the proxy authenticates users, it can pass their names: --console-user-header.

            Example: doorstep console serve
            """,
        subcommands: [Serve.self, Link.self, Sessions.self, Events.self, End.self],
        defaultSubcommand: Serve.self)

    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract:
                "Serve the console until SIGTERM or SIGINT; on a terminal, print a sign-in link.",
            discussion: "Example: doorstep console serve --console-port 8081")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var place: ConsoleOptions
        @Option(Settings.consoleLeaflet) var leaflet: String?
        @Option(Settings.consoleTiles) var tiles: String?
        @Option(Settings.consoleTilesAttribution) var attribution: String?
        @Option(Settings.poolSize) var poolSize: Int?
        @Option(Settings.auditRetention) var auditRetention: Int?
        @Option(Settings.logLevel) var logLevel: Logger.Level?
        @Option(Settings.logFormat) var logFormat: LogFormat?
        @OptionGroup var proxy: ConsoleProxyOptions
        @OptionGroup var detours: ConsoleDetourOptions
        @OptionGroup var proof: ProofOptions

        func run() async throws {
            StandardErrorLog.bootstrap(
                try Settings.logLevel.value(logLevel), try Settings.logFormat.value(logFormat))
            let logger = Logger(label: "doorstep")
            var settings = try place.settings()
            settings.leaflet = try Settings.consoleLeaflet.value(leaflet)
            settings.tiles = try tileSource()
            try proxy.add(to: &settings)
            settings.apnsDetours = try detours.texts()
            let console = ConsoleHost(
                settings: settings, poolSize: try Settings.poolSize.value(poolSize),
                signatures: try LocationURLSigner.fromEnvironment(), keys: try TokenSecrets.sealingKeys(),
                resolver: try proof.resolver(), outbound: try proof.outbound.settings(),
                retention: try Settings.auditRetention.value(auditRetention),
                // Not in the log, which is stored: a link is for one person only.
                printsLink: isatty(STDOUT_FILENO) == 1, logger: logger)
            logger.notice("doorstep console starts", metadata: BuildInfo.current.metadata)
            UnknownSettings().warn(logger)
            try await console.run(on: database)
        }

        /// Providers of tiles require attribution.
        private func tileSource() throws -> TileSource? {
            let template = try Settings.consoleTiles.value(self.tiles)
            let attribution = try Settings.consoleTilesAttribution.value(self.attribution)
            guard template != nil || attribution != nil else { return nil }
            guard let template, let attribution, !attribution.isEmpty else {
                throw ValidationError("--tiles and --tiles-attribution require each other")
            }
            guard let source = TileSource(template: template, attribution: attribution) else {
                throw ValidationError(
                    """
                    --tiles must be an https URL with {z}, {x} and {y} once each, such as \
                    https://tiles.example.com/{z}/{x}/{y}.png
                    """
                )
            }
            return source
        }
    }

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link",
            abstract: "Print a sign-in link for the console; it works once, within ten minutes.",
            discussion: "Example: doorstep console link --read-only")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var place: ConsoleOptions
        @OptionGroup var output: OutputOptions
        @Option(
            name: .customLong("as"),
            help: "User name for the audit log, after 'console:'. (default: the login name)")
        var name: String?
        @Option(help: "Limit the session to this tenant.") var tenant: TenantSlug?
        @Flag(name: .customLong("read-only"), help: "Make the session read-only.") var isReadOnly =
            false
        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("Duration of the session, from 1m to 12h.", valueName: "length"))
        var length = SessionLength.standard

        func run() async throws {
            let name = try DisplayName(name ?? NSUserName())
            let settings = try place.settings()
            let secret = try await database.withPool { pool in
                let tenant = try await named(pool)
                return try await PostgresConsoleSessions(pool).addLink(
                    for: ConsoleAccess(name: name, tenant: tenant, isReadOnly: isReadOnly),
                    lasting: length.seconds)
            }
            let link = "\(settings.address(port: settings.port))/login#\(secret.text)"
            output.print(["link": .string(link)], line: link)
        }

        private func named(_ pool: ConnectionPool) async throws -> TenantID? {
            guard let tenant else { return nil }
            return try await PostgresAdministrationStore(pool, actor: "").tenant(tenant).id
        }
    }

    struct Sessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List the console's sessions.",
            discussion: "Example: doorstep console sessions")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let sessions = try await database.withPool {
                try await PostgresConsoleSessions($0).sessions(at: Date())
            }
            output.print(
                sessions.map(\.json),
                columns: ["id", "name", "since", "lastSeen", "endsAt", "tenant", "readOnly"])
        }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "events",
            abstract: "List the console's events that belong to no tenant, the newest first.",
            discussion:
                """
                Events are links, sign-ins, ended sessions and shown keys. 'doorstep audit' lists the changes of a \
                tenant.

                Example: doorstep console events --limit 20
                """
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Option(help: "Only events before the event with this ID.") var before: Int?
        @Option(help: "Maximum number of events.") var limit = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let events = try await database.withPool { [before, limit] in
                try await PostgresConsoleSessions($0).events(before: before, limit: limit)
            }
            output.print(events.map(\.json), columns: ["id", "at", "event", "name", "login"])
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end", abstract: "End a session, or all sessions and all unused links.",
            discussion: "Example: doorstep console end --all")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @Argument(
            help: "Session ID.",
            transform: { text in
                guard let id = UUID(uuidString: text) else {
                    throw ValidationError("a session ID must be a UUID")
                }
                return id
            })
        var id: UUID?
        @Flag(help: "End all sessions.") var all = false

        func validate() throws {
            guard (id == nil) == all else { throw ValidationError("name a session, or --all") }
        }

        func run() async throws {
            let name = try DisplayName(NSUserName())
            try await database.withPool { pool in
                let sessions = PostgresConsoleSessions(pool)
                if let id {
                    try await sessions.end(id, by: name)
                } else {
                    try await sessions.endAll(by: name)
                }
            }
        }
    }
}

/// The length of a session in minutes or hours, such as `30m` and `8h`.
struct SessionLength: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int
    let description: String

    static let standard = SessionLength(seconds: 8 * 3_600, description: "8h")

    private init(seconds: Int, description: String) {
        self.seconds = seconds
        self.description = description
    }

    init?(argument: String) {
        let units = ["m": 60, "h": 3_600]
        guard let unit = argument.last.flatMap({ units[String($0)] }), let count = Int(argument.dropLast()),
            case (let seconds, false) = count.multipliedReportingOverflow(by: unit),
            (60...Int(ConsoleSession.maximumLength)).contains(seconds)
        else { return nil }
        self.init(seconds: seconds, description: argument)
    }

    var defaultValueDescription: String { description }
}

extension PostgresConsoleSessions {
    /// Creates a link and stores its digest.
    func addLink(for access: ConsoleAccess, lasting length: Int) async throws -> ConsoleSecret {
        let secret = try await makeSecret()
        try await add(secret, for: access, lasting: length, at: Date())
        return secret
    }
}

extension ConsoleEvent {
    fileprivate var json: JSONObject {
        [
            "id": JSONValue(id), "at": JSONValue(at), "event": .string(kind.rawValue), "name": .string(name),
            "login": .string(login),
        ]
    }
}

extension ConsoleSession {
    fileprivate var json: JSONObject {
        [
            "id": .string(id.uuidString.lowercased()), "name": .string(access.name.text),
            "since": JSONValue(createdAt), "lastSeen": JSONValue(seenAt), "endsAt": JSONValue(expiresAt),
            "tenant": access.tenant.map { .string($0.description) } ?? .null,
            "readOnly": .bool(access.isReadOnly),
        ]
    }
}
