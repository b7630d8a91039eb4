import APNsClient
import ArgumentParser
import Console
import Formats
import HTTPAPI
import Logging
import Persistence
import ServerClient
import Tenancy
import TenantSites

/// All settings there are.
enum Settings {
    private static let api = APIServer.Settings()
    private static let apns = APNsClient.Settings()

    // MARK: Deployment

    static let databaseURL = Setting<String, Void>(
        "database-url", "DATABASE_URL", value: "conninfo", isSecret: true,
        """
        libpq connection string; can name several hosts. Other users can read a password on a command line: use \
        the variable, a service file ('service=NAME') or ~/.pgpass instead
        """)
    static let embeddedPostgres = Setting<String, Void>(
        "embedded-postgres", nil, value: "dir",
        """
        Directory of an embedded PostgreSQL to use instead of DATABASE_URL; Doorstep starts it if it does not run, \
        and migrates its schema
        """)
    static let server = Setting<ServerURL, Void>(
        "server", "DOORSTEP_SERVER", value: "url",
        range:
            "an https URL such as https://doorstep.example.com; http only for this machine: localhost, 127.0.0.1 or [::1]",
        """
        Server to use over HTTP instead of a database, with the key in DOORSTEP_KEY or from 'doorstep login'
        """)
    static let key = Setting<String, Void>(
        nil, "DOORSTEP_KEY", isSecret: true,
        """
        Secret key for requests to the server; the key determines the tenant. Without it, commands use the key that \
        'doorstep login' stored
        """)
    static let tenant = Setting<TenantSlug, Void>(
        "tenant", "DOORSTEP_TENANT", value: "slug",
        range: "1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end",
        "Slug of the tenant")
    static let authorities = Setting<String, Void>(
        "ca-file", nil, value: "file", otherwise: "the system's",
        """
        File with CA certificates (PEM) to trust in place of the system's, for connections to internal servers. \
        'serve' trusts them for webhooks and domain proofs
        """)
    static let resolver = Setting<NameServer, Void>(
        "resolver", "DOORSTEP_RESOLVER", value: "address[:port]", otherwise: "as in /etc/resolv.conf",
        "DNS server for domain proofs")
    static let outboundAllow = ranges(
        "outbound-allow", "DOORSTEP_OUTBOUND_ALLOW",
        """
        Addresses that webhooks, domain proofs and site checks may connect to although they are not public; can be \
        repeated
        """)

    // MARK: Server

    static let host = Setting("host", "DOORSTEP_HOST", default: api.host, "Address to listen on")
    static let port = Setting(
        "port", "DOORSTEP_PORT", default: api.port, in: 0...65_535, "Port to listen on; 0 for any")
    static let operationsPort = Setting<Int, Void>(
        "operations-port", "DOORSTEP_OPERATIONS_PORT", in: 0...65_535,
        """
        Port that serves /livez, /readyz, /metrics and /tls/allowed in plain HTTP. With this setting, --port does not \
        serve them; 0 for any
        """)
    static let operationsHost = Setting<String, Void>(
        "operations-host", "DOORSTEP_OPERATIONS_HOST", otherwise: "as --host",
        "Address to listen on at the operations port")
    static let tlsCertificate = Setting<String, Void>(
        "tls-certificate", "DOORSTEP_TLS_CERTIFICATE", value: "file",
        "Certificate chain (PEM). With --tls-key it turns on TLS 1.2 or later, with HTTP/2 and HTTP/1.1")
    static let tlsKey = Setting<String, Void>(
        "tls-key", "DOORSTEP_TLS_KEY", value: "file",
        "Private key of the certificate (PEM). The file must be readable only by its owner and its group")
    static let maximumConnections = Setting(
        "max-connections", "DOORSTEP_MAX_CONNECTIONS", default: api.maximumConnections, in: 1...1_000_000,
        """
        Maximum number of open connections; one client gets at most a tenth. When nearly all are open, the server \
        closes idle connections to make room
        """)
    static let shutdownTimeout = Setting(
        "shutdown-timeout", "DOORSTEP_SHUTDOWN_TIMEOUT", default: Int(api.shutdownTimeout.components.seconds),
        in: 0...3_600,
        "Seconds that requests may continue after SIGTERM; the server then closes their connections")
    static let shutdownDelay = Setting(
        "shutdown-delay", "DOORSTEP_SHUTDOWN_DELAY", default: Int(api.shutdownDelay.components.seconds),
        in: 0...3_600,
        """
        Seconds after SIGTERM in which the server still accepts connections. /readyz already returns 503, so that \
        proxies choose other servers
        """)
    static let trustedProxies = ranges(
        "trusted-proxy", "DOORSTEP_TRUSTED_PROXIES",
        "Proxies whose X-Forwarded-For the server trusts; can be repeated")

    private static func ranges(
        _ flag: String, _ variable: String, _ help: String
    ) -> Setting<[AddressRange], [AddressRange]> {
        Setting(
            flag, variable, default: [], value: "cidr",
            range: "an address, a range such as 10.0.0.0/8, or several, separated by commas", help,
            show: { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: ",") },
            parse: { text in
                let texts = text.split(separator: ",")
                let ranges = texts.compactMap { AddressRange(String($0)) }
                return ranges.count == texts.count ? ranges : nil
            })
    }

    // MARK: Console

    private static let console = ConsoleServer.Settings()

    static let consoleHost = Setting(
        "console-host", "DOORSTEP_CONSOLE_HOST", default: console.host,
        "Address for the console to listen on")
    static let consolePort = Setting(
        "console-port", "DOORSTEP_CONSOLE_PORT", default: console.port, in: 0...65_535,
        "Port for the console to listen on; 0 for any")
    static let consoleOrigins = Setting<[ConsoleOrigin], [ConsoleOrigin]>(
        "console-origin", "DOORSTEP_CONSOLE_ORIGINS", default: [], value: "origin",
        range: "an origin such as https://console.example.com, or several, separated by commas",
        "Origin at which browsers reach the console through a TLS proxy; can be repeated",
        show: { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: ",") },
        parse: { text in
            let texts = text.split(separator: ",")
            let origins = texts.compactMap { ConsoleOrigin(String($0)) }
            return origins.count == texts.count ? origins : nil
        })
    static let consoleProxies = ranges(
        "console-proxy", "DOORSTEP_CONSOLE_PROXIES",
        """
        Proxies in front of the console. The console trusts their X-Forwarded-For, and their --console-user-header; \
        can be repeated
        """)
    static let consoleLeaflet = Setting(
        "console-leaflet", "DOORSTEP_CONSOLE_LEAFLET", default: ConsoleServer.Settings.usualLeaflet,
        value: "dir",
        """
        Directory of Leaflet's files, as in Debian's libjs-leaflet; without them the console shows no map
        """)
    static let consoleTiles = Setting<String, Void>(
        "tiles", "DOORSTEP_CONSOLE_TILES", value: "url", otherwise: "land and borders, no streets",
        """
        URL template of raster tiles for the console's maps, such as https://tiles.example.com/{z}/{x}/{y}.png; \
        browsers load them directly
        """
    )
    static let consoleTilesAttribution = Setting<String, Void>(
        "tiles-attribution", "DOORSTEP_CONSOLE_TILES_ATTRIBUTION", value: "text",
        "Attribution of the tiles, shown on the map; requires --tiles")

    static let consoleUserHeader = Setting<String, Void>(
        "console-user-header", "DOORSTEP_CONSOLE_USER_HEADER", value: "name",
        """
        Header field with the user whom the proxy authenticated, such as X-Forwarded-User; requires \
        --console-groups-header, --console-group, --console-origin and --console-proxy
        """)
    static let consoleGroupsHeader = Setting<String, Void>(
        "console-groups-header", "DOORSTEP_CONSOLE_GROUPS_HEADER", value: "name",
        "Header field with the user's groups, separated by commas; group names cannot contain a comma"
    )
    static let consoleGroups = Setting<[ConsoleGroup], [ConsoleGroup]>(
        "console-group", "DOORSTEP_CONSOLE_GROUPS", default: [], value: "name=rights",
        range: """
            NAME=RIGHT or NAME=RIGHT:TENANT, where RIGHT is change or read, such as operators=change or \
            acme-staff=read:acme; several are separated by commas
            """,
        """
        Rights of a group's users. The first group that matches the user decides; without a match, the user cannot \
        sign in. Can be repeated; each value is one of these
        """,
        show: { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: ",") },
        parse: { text in
            let texts = text.split(separator: ",")
            let groups = texts.compactMap { ConsoleGroup(String($0)) }
            return groups.count == texts.count ? groups : nil
        })

    // MARK: Data

    static let poolSize = Setting(
        "pool-size", "DOORSTEP_POOL_SIZE", default: 4, in: 1...1_000,
        """
        Maximum number of connections to PostgreSQL for requests; connections for LISTEN, deliveries and management \
        are additional
        """
    )
    static let managementPoolSize = Setting(
        "management-pool-size", "DOORSTEP_MANAGEMENT_POOL_SIZE", default: 2, in: 1...100,
        "Maximum number of connections to PostgreSQL for requests that manage a tenant's catalogue")
    static let tableFile = Setting<String, Void>(
        "table-file", "DOORSTEP_TABLE_FILE", value: "file",
        """
        File for a copy of the lookup index. With it, the server can start while the database is unavailable
        """
    )
    static let tableMaximumAge = Setting(
        "table-max-age", "DOORSTEP_TABLE_MAX_AGE", default: TableAge.standard, value: "hours",
        range: TableAge.range,
        """
        Maximum age of the lookup index in hours. A server does not start from an older copy in --table-file. While \
        the index of a running server is older, /readyz returns 503
        """)
    static let confirmationRetention = Setting(
        "confirmation-retention", "DOORSTEP_CONFIRMATION_RETENTION", default: 90,
        in: ConfirmationDays.retentions,
        "Days before confirmations, and counts of lookups and launch reports, are deleted")
    static let instanceRetention = Setting(
        "instance-retention", "DOORSTEP_INSTANCE_RETENTION", default: 30,
        in: NotificationRetention.retentions,
        "Days without a launch before an instance is deleted")
    static let notificationRetention = Setting(
        "notification-retention", "DOORSTEP_NOTIFICATION_RETENTION", default: 30,
        in: NotificationRetention.retentions, "Days before a notification and its deliveries are deleted")
    static let auditRetention = Setting<Int, Void>(
        "audit-retention", "DOORSTEP_AUDIT_RETENTION", in: AuditLogRetention.retentions,
        otherwise: "forever",
        "Days before an entry of the audit log is deleted")

    // MARK: Limits

    static let keyLimit = limit(
        "key-limit", "DOORSTEP_KEY_LIMIT", \.key,
        "Requests per second and burst of one key, unless its tenant has its own limit"
    )
    static let clientLimit = limit(
        "client-limit", "DOORSTEP_CLIENT_LIMIT", \.client,
        """
        Requests per second and burst of one client address, for requests with a publishable key, with an invalid \
        key, or to endpoints that need no key
        """
    )
    static let newInstanceLimit = limit(
        "new-instance-limit", "DOORSTEP_NEW_INSTANCE_LIMIT", \.newInstances,
        "New instances per second and burst of a tenant, unless it has its own limit")
    static let clientNewInstanceLimit = limit(
        "client-new-instance-limit", "DOORSTEP_CLIENT_NEW_INSTANCE_LIMIT", \.clientNewInstances,
        "New instances per second and burst of one client address with a tenant's publishable keys")
    static let newAttestKeyLimit = limit(
        "new-attest-key-limit", "DOORSTEP_NEW_ATTEST_KEY_LIMIT", \.newAttestKeys,
        "New App Attest keys per second and burst of a tenant")
    static let clientNewAttestKeyLimit = limit(
        "client-new-attest-key-limit", "DOORSTEP_CLIENT_NEW_ATTEST_KEY_LIMIT", \.clientNewAttestKeys,
        "New App Attest keys per second and burst of one client address")

    private static func limit(
        _ flag: String, _ variable: String, _ path: KeyPath<RequestLimits, RateLimit?>, _ help: String
    ) -> Setting<RateLimit, RateLimit> {
        Setting(
            flag, variable, default: api.limits[keyPath: path] ?? .off, value: "rate[:burst]",
            range: "RATE, or RATE:BURST such as 50:1000, or 'off' for no limit", help)
    }

    // MARK: Receipts

    static let receiptKeys = Setting<String, Void>(
        "receipt-keys", "DOORSTEP_RECEIPT_KEYS", value: "file",
        "File with the keys that sign receipts; without it the server issues no receipts")
    static let receiptIssuer = Setting(
        "receipt-issuer", "DOORSTEP_RECEIPT_ISSUER", default: "doorstep", "Issuer (iss) of receipts")

    // MARK: App Attest

    static let attestRoot = Setting<String, Void>(
        "attest-root", "DOORSTEP_ATTEST_ROOT", value: "file", otherwise: "Apple's",
        """
        Root certificate (PEM) for attestations in place of Apple's, for tests with a software authenticator. The \
        holder of its key can attest any app
        """
    )

    // MARK: Notifications

    static let apnsKeys = Setting<String, Void>(
        "apns-keys", "DOORSTEP_APNS_KEYS", value: "file",
        "File that lists the teams' APNs keys; without it this server delivers no notifications")
    static let apnsConnections = Setting(
        "apns-connections", "DOORSTEP_APNS_CONNECTIONS", default: apns.connections, in: 1...100,
        "Maximum number of connections to APNs for each team and environment")
    static let apnsTimeout = Setting(
        "apns-timeout", "DOORSTEP_APNS_TIMEOUT", default: Int(apns.requestTimeout.components.seconds),
        in: 1...300,
        "Seconds to wait for a response from APNs; after twice this time, another server may send the delivery"
    )
    static let apnsProduction = Setting<HostAndPort, Void>(
        "apns-production", "DOORSTEP_APNS_PRODUCTION", value: "host:port", otherwise: "Apple",
        "APNs server for production notifications, such as a simulator")
    static let apnsSandbox = Setting<HostAndPort, Void>(
        "apns-sandbox", "DOORSTEP_APNS_SANDBOX", value: "host:port", otherwise: "Apple",
        "APNs server for sandbox notifications, such as a simulator")
    static let apnsAuthorities = Setting<String, Void>(
        "apns-ca-file", "DOORSTEP_APNS_CA_FILE", value: "file", otherwise: "the system's",
        "Certificates (PEM) to trust for APNs, for a simulator")

    // MARK: App Store Connect

    static let driftInterval = Setting(
        "drift-interval", "DOORSTEP_DRIFT_INTERVAL", default: 24, in: 0...8_760,
        """
        Hours between two checks for drift: changes at App Store Connect that Doorstep did not make; 0 turns the \
        checks off
        """)
    static let appStore = Setting<StoreURL, Void>(
        "app-store", "DOORSTEP_APP_STORE", value: "url", otherwise: "Apple's",
        "URL of App Store Connect, such as http://127.0.0.1:2199 of a simulator")

    // MARK: Domains

    static let domainCheckInterval = Setting(
        "domain-check-interval", "DOORSTEP_DOMAIN_CHECK_INTERVAL", default: 24, in: 0...8_760,
        """
        Hours between two checks of a domain's proof. With 0, there are no regular checks: the server checks a \
        domain only if another tenant publishes a proof of the same domain
        """)

    // MARK: Logs and secrets

    static let logLevel = Setting(
        "log-level", "DOORSTEP_LOG_LEVEL", default: Logger.Level.info, value: "level",
        range: Logger.Level.allCases.map(\.rawValue).joined(separator: ", "),
        """
        Minimum level of log messages. Successful requests, and refusals without a valid key except 429, are logged at debug. For \
        other refusals, the log has the first of each kind, and then their number. The level is one of these
        """, show: \.rawValue, parse: { Logger.Level(rawValue: $0) })
    static let logFormat = Setting<LogFormat, Void>(
        "log-format", "DOORSTEP_LOG_FORMAT", value: "format", otherwise: "json; text at a terminal",
        range: LogFormat.allCases.map(\.rawValue).joined(separator: ", "),
        """
        Format of log lines. If a warning or error repeats, the log has it again after 10 seconds to 5 minutes, with \
        the number of repetitions. The format is one of these
        """
    )
    static let accessLog = Setting(
        "access-log", "DOORSTEP_ACCESS_LOG", default: AccessLogMode.off, value: "mode",
        range: AccessLogMode.allCases.map(\.rawValue).joined(separator: ", "),
        """
        A log line for each request: with the client's network (a /24 of IPv4 or a /64 of IPv6) for 'cut', with the \
        client's address for 'full'. The mode is one of these
        """, show: \.rawValue, parse: { AccessLogMode(rawValue: $0) })
    static let otlpEndpoint = Setting<CollectorURL, Void>(
        "otlp-endpoint", "DOORSTEP_OTLP_ENDPOINT", value: "url", otherwise: "no traces",
        """
        OpenTelemetry collector that receives traces by OTLP/HTTP in JSON, such as http://127.0.0.1:4318; /v1/traces is \
        added to the path
        """)
    static let traceSample = Setting(
        "trace-sample", "DOORSTEP_TRACE_SAMPLE", default: 1.0, value: "ratio", range: "0 to 1",
        "Share of traces to record", show: { $0 == 1 ? "1" : "\($0)" },
        parse: { text in Double(text).flatMap { (0...1).contains($0) ? $0 : nil } })
    static let tokenSecret = Setting<String, Void>(
        nil, "DOORSTEP_TOKEN_SECRET", isSecret: true,
        """
        Secret that protects push tokens, webhook secrets and App Store Connect keys in the database: 32 bytes or \
        more. Several are separated by commas: the first encrypts, all decrypt. Without it, instances cannot be \
        registered and nothing can be sent
        """)
    static let signingSecret = Setting<String, Void>(
        nil, "DOORSTEP_SIGNING_SECRET", isSecret: true,
        """
        Secret that signs locations in URLs, and the challenges and tokens of App Attest: 32 bytes or more. Several \
        are separated by commas: the first signs, all verify. Without it, the server refuses signed URLs and \
        attestations
        """)

    /// The settings in the order of the guide.
    static let all: [SettingDescription] = [
        databaseURL.description, embeddedPostgres.description, server.description, key.description,
        tenant.description, host.description,
        port.description, operationsPort.description, operationsHost.description, tlsCertificate.description,
        tlsKey.description, maximumConnections.description,
        shutdownDelay.description, shutdownTimeout.description, trustedProxies.description,
        consoleHost.description,
        consolePort.description, consoleOrigins.description, consoleProxies.description,
        consoleLeaflet.description,
        consoleTiles.description, consoleTilesAttribution.description,
        consoleUserHeader.description, consoleGroupsHeader.description, consoleGroups.description,
        poolSize.description,
        managementPoolSize.description, tableFile.description, tableMaximumAge.description,
        confirmationRetention.description, instanceRetention.description,
        notificationRetention.description, auditRetention.description, keyLimit.description,
        clientLimit.description,
        newInstanceLimit.description, clientNewInstanceLimit.description, newAttestKeyLimit.description,
        clientNewAttestKeyLimit.description, receiptKeys.description,
        receiptIssuer.description, attestRoot.description, apnsKeys.description, apnsConnections.description,
        apnsTimeout.description,
        apnsProduction.description, apnsSandbox.description, apnsAuthorities.description,
        driftInterval.description, appStore.description, domainCheckInterval.description,
        authorities.description, outboundAllow.description, resolver.description, logLevel.description,
        logFormat.description, accessLog.description, otlpEndpoint.description, traceSample.description,
        tokenSecret.description,
        signingSecret.description,
    ]
}
