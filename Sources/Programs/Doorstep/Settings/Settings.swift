import APNsClient
import ArgumentParser
import Console
import DNSClient
import HTTPAPI
import IPAddresses
import Logging
import Persistence
import RateLimiting
import ServerClient
import Tenancy

/// All settings there are.
enum Settings {
    private static let api = APIServer.Settings()
    private static let apns = APNsClient.Settings()

    // MARK: What commands work on

    static let databaseURL = Setting<String, Void>(
        "database-url", "DATABASE_URL", value: "conninfo",
        """
        A libpq connection string, of several hosts perhaps. A password among arguments can be read in the list of \
        processes, and is warned of: use the variable, a service file ('service=NAME') or ~/.pgpass
        """)
    static let embeddedPostgres = Setting<String, Void>(
        "embedded-postgres", nil, value: "dir",
        """
        Start a private PostgreSQL in this directory instead, or join the one that runs there, and bring its schema up \
        to date
        """)
    static let server = Setting<ServerURL, Void>(
        "server", "DOORSTEP_SERVER", value: "url",
        range:
            "an https URL such as https://doorstep.example.com; http only for this machine: localhost, 127.0.0.1 or [::1]",
        """
        Work on the tenant of a key at this server, over HTTP, instead of a database: the key of DOORSTEP_KEY, or one that \
        'doorstep login' keeps
        """)
    static let key = Setting<String, Void>(
        nil, "DOORSTEP_KEY", "The secret key that the server is asked with")
    static let tenant = Setting<TenantSlug, Void>(
        "tenant", "DOORSTEP_TENANT", value: "slug",
        range: "1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end",
        "The tenant that a command is about")
    static let authorities = Setting<String, Void>(
        "ca-file", nil, value: "file", otherwise: "the system's",
        "Certificates (PEM) to trust instead, for a server inside; of serve, for webhooks and proofs")
    static let resolver = Setting<NameServer, Void>(
        "resolver", "DOORSTEP_RESOLVER", value: "address[:port]", otherwise: "those of /etc/resolv.conf",
        "The DNS server to ask for proofs of domains instead")
    static let outboundAllow = ranges(
        "outbound-allow", "DOORSTEP_OUTBOUND_ALLOW",
        """
        Addresses that webhooks, proofs and checks of sites may lead to though they are not public; can be repeated
        """)

    // MARK: Where the server listens

    static let host = Setting("host", "DOORSTEP_HOST", default: api.host, "The address to listen on")
    static let port = Setting(
        "port", "DOORSTEP_PORT", default: api.port, in: 0...65_535, "The port to listen on; 0 for any")
    static let operationsPort = Setting<Int, Void>(
        "operations-port", "DOORSTEP_OPERATIONS_PORT", in: 0...65_535,
        """
        Answer /livez, /readyz, /metrics and /tls/allowed at this port, in plain HTTP, and no longer at the other; 0 for any
        """)
    static let operationsHost = Setting<String, Void>(
        "operations-host", "DOORSTEP_OPERATIONS_HOST", otherwise: "that of --host",
        "The address to listen on at that port")
    static let tlsCertificate = Setting<String, Void>(
        "tls-certificate", "DOORSTEP_TLS_CERTIFICATE", value: "file",
        "A certificate chain (PEM): with it and --tls-key, TLS 1.2 or later with HTTP/2 and HTTP/1.1")
    static let tlsKey = Setting<String, Void>(
        "tls-key", "DOORSTEP_TLS_KEY", value: "file",
        "The certificate's key (PEM); one that others than its owner and its group may read is refused")
    static let maximumConnections = Setting(
        "max-connections", "DOORSTEP_MAX_CONNECTIONS", default: api.maximumConnections, in: 1...1_000_000,
        """
        How many connections may be open at once, a tenth of them of one client. When nearly all are open, idle ones are \
        closed for new ones
        """)
    static let shutdownTimeout = Setting(
        "shutdown-timeout", "DOORSTEP_SHUTDOWN_TIMEOUT", default: Int(api.shutdownTimeout.components.seconds),
        in: 0...3_600,
        "For how many seconds after SIGTERM requests under way may go on; then they are cut")
    static let trustedProxies = ranges(
        "trusted-proxy", "DOORSTEP_TRUSTED_PROXIES",
        "Proxies whose X-Forwarded-For is believed by the server; can be repeated")

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

    // MARK: Where the console listens

    private static let console = ConsoleServer.Settings()

    static let consoleHost = Setting(
        "console-host", "DOORSTEP_CONSOLE_HOST", default: console.host,
        "The address that the console listens on")
    static let consolePort = Setting(
        "console-port", "DOORSTEP_CONSOLE_PORT", default: console.port, in: 0...65_535,
        "The port that the console listens on; 0 for any")
    static let consoleOrigins = Setting<[ConsoleOrigin], [ConsoleOrigin]>(
        "console-origin", "DOORSTEP_CONSOLE_ORIGINS", default: [], value: "origin",
        range: "an origin such as https://console.example.com, or several, separated by commas",
        "Where browsers reach the console, besides this machine: a proxy that speaks TLS; can be repeated",
        show: { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: ",") },
        parse: { text in
            let texts = text.split(separator: ",")
            let origins = texts.compactMap { ConsoleOrigin(String($0)) }
            return origins.count == texts.count ? origins : nil
        })
    static let consoleProxies = ranges(
        "console-proxy", "DOORSTEP_CONSOLE_PROXIES",
        """
        Proxies before the console: whose X-Forwarded-For is believed there, and who may say who somebody is, where \
        --console-user-header has them; can be repeated
        """)
    static let consoleLeaflet = Setting(
        "console-leaflet", "DOORSTEP_CONSOLE_LEAFLET", default: ConsoleServer.Settings.usualLeaflet,
        value: "dir",
        "Where Leaflet's files are, as Debian's libjs-leaflet has them; without them there is no map")
    static let consoleTiles = Setting<String, Void>(
        "tiles", "DOORSTEP_CONSOLE_TILES", value: "url", otherwise: "land and borders, no streets",
        "Raster tiles that the console's maps are drawn on, as https://tiles.example.com/{z}/{x}/{y}.png; browsers ask for them themselves"
    )
    static let consoleTilesAttribution = Setting<String, Void>(
        "tiles-attribution", "DOORSTEP_CONSOLE_TILES_ATTRIBUTION", value: "text",
        "Whom the tiles are of, as the map says; goes with --tiles")

    static let consoleUserHeader = Setting<String, Void>(
        "console-user-header", "DOORSTEP_CONSOLE_USER_HEADER", value: "name",
        """
        The header field by which a proxy says who has signed in there, such as X-Forwarded-User; with it go \
        --console-groups-header, --console-group, --console-origin and --console-proxy
        """)
    static let consoleGroupsHeader = Setting<String, Void>(
        "console-groups-header", "DOORSTEP_CONSOLE_GROUPS_HEADER", value: "name",
        "The header field by which it says of which groups they are, separated by commas: a group that has one in its name is none"
    )
    static let consoleGroups = Setting<[ConsoleGroup], [ConsoleGroup]>(
        "console-group", "DOORSTEP_CONSOLE_GROUPS", default: [], value: "name=rights",
        range: """
            a group with change or read, and with a tenant after a colon where it is to see that one alone, such as \
            operators=change or acme-staff=read:acme; or several, separated by commas
            """,
        "What people of a group may do; of several the first decides, and who is of none is not let in; can be repeated",
        show: { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: ",") },
        parse: { text in
            let texts = text.split(separator: ",")
            let groups = texts.compactMap { ConsoleGroup(String($0)) }
            return groups.count == texts.count ? groups : nil
        })

    // MARK: What it answers from, and keeps

    static let poolSize = Setting(
        "pool-size", "DOORSTEP_POOL_SIZE", default: 4, in: 1...1_000,
        "Connections to PostgreSQL at most, besides one that listens, those that deliver and those that manage"
    )
    static let managementPoolSize = Setting(
        "management-pool-size", "DOORSTEP_MANAGEMENT_POOL_SIZE", default: 2, in: 1...100,
        "Connections to PostgreSQL at most for requests that manage a tenant's catalogue")
    static let tableFile = Setting<String, Void>(
        "table-file", "DOORSTEP_TABLE_FILE", value: "file",
        "Keep what answers are given from in this file, so that the server can start while the database is away"
    )
    static let tableMaximumAge = Setting(
        "table-max-age", "DOORSTEP_TABLE_MAX_AGE", default: TableAge.standard, value: "hours",
        range: TableAge.range,
        "How many hours ago the table in that file may have been what the database said")
    static let confirmationRetention = Setting(
        "confirmation-retention", "DOORSTEP_CONFIRMATION_RETENTION", default: 90,
        in: ConfirmationDays.retentions, "For how many days confirmations are kept")
    static let instanceRetention = Setting(
        "instance-retention", "DOORSTEP_INSTANCE_RETENTION", default: 30,
        in: NotificationRetention.retentions,
        "After how many days without a launch an instance is forgotten")
    static let notificationRetention = Setting(
        "notification-retention", "DOORSTEP_NOTIFICATION_RETENTION", default: 30,
        in: NotificationRetention.retentions, "For how many days notifications and their traces are kept")
    static let auditRetention = Setting<Int, Void>(
        "audit-retention", "DOORSTEP_AUDIT_RETENTION", in: AuditLogRetention.retentions,
        otherwise: "for ever",
        "For how many days entries of the audit log are kept")

    // MARK: Limits

    static let keyLimit = limit(
        "key-limit", "DOORSTEP_KEY_LIMIT", \.key,
        "How often a key may be used, unless its tenant has a limit of its own: requests a second, and at once"
    )
    static let clientLimit = limit(
        "client-limit", "DOORSTEP_CLIENT_LIMIT", \.client,
        "How often one client address may use a tenant's publishable keys, send no valid key, or read what needs no key"
    )
    static let newInstanceLimit = limit(
        "new-instance-limit", "DOORSTEP_NEW_INSTANCE_LIMIT", \.newInstances,
        """
        How many instances that were not known a tenant gets, unless it has a limit of its own: a second, and at once
        """)
    static let clientNewInstanceLimit = limit(
        "client-new-instance-limit", "DOORSTEP_CLIENT_NEW_INSTANCE_LIMIT", \.clientNewInstances,
        "How many of these one client address may add with a tenant's publishable keys")
    static let newAttestKeyLimit = limit(
        "new-attest-key-limit", "DOORSTEP_NEW_ATTEST_KEY_LIMIT", \.newAttestKeys,
        "How many keys of App Attest may be attested for a tenant: a second, and at once")
    static let clientNewAttestKeyLimit = limit(
        "client-new-attest-key-limit", "DOORSTEP_CLIENT_NEW_ATTEST_KEY_LIMIT", \.clientNewAttestKeys,
        "How many of these from one client address")

    private static func limit(
        _ flag: String, _ variable: String, _ path: KeyPath<RequestLimits, RateLimit?>, _ help: String
    ) -> Setting<RateLimit, RateLimit> {
        Setting(
            flag, variable, default: api.limits[keyPath: path] ?? .off, value: "rate[:burst]",
            range: "a rate, a rate and a burst such as 50:1000, or 'off' for none", help)
    }

    // MARK: Receipts

    static let receiptKeys = Setting<String, Void>(
        "receipt-keys", "DOORSTEP_RECEIPT_KEYS", value: "file",
        "The file of the keys that sign receipts; without it there are none")
    static let receiptIssuer = Setting(
        "receipt-issuer", "DOORSTEP_RECEIPT_ISSUER", default: "doorstep", "Who receipts say they are from")

    // MARK: App Attest

    static let attestRoot = Setting<String, Void>(
        "attest-root", "DOORSTEP_ATTEST_ROOT", value: "file", otherwise: "Apple's",
        "Trust attestations of this certificate (PEM) in place of Apple's, for a software authenticator: whoever has its key attests anything"
    )

    // MARK: Notifications

    static let apnsKeys = Setting<String, Void>(
        "apns-keys", "DOORSTEP_APNS_KEYS", value: "file",
        "A file that lists the teams' keys for APNs; without it nothing is delivered from this server")
    static let apnsConnections = Setting(
        "apns-connections", "DOORSTEP_APNS_CONNECTIONS", default: apns.connections, in: 1...100,
        "Connections to each environment for each team, at most")
    static let apnsTimeout = Setting(
        "apns-timeout", "DOORSTEP_APNS_TIMEOUT", default: Int(apns.requestTimeout.components.seconds),
        in: 1...300,
        "For how many seconds an answer of APNs is waited for; a delivery is lent to a server for twice that")
    static let apnsProduction = Setting<HostAndPort, Void>(
        "apns-production", "DOORSTEP_APNS_PRODUCTION", value: "host:port", otherwise: "Apple",
        "Where production notifications go, such as a simulator")
    static let apnsSandbox = Setting<HostAndPort, Void>(
        "apns-sandbox", "DOORSTEP_APNS_SANDBOX", value: "host:port", otherwise: "Apple",
        "Where sandbox notifications go")
    static let apnsAuthorities = Setting<String, Void>(
        "apns-ca-file", "DOORSTEP_APNS_CA_FILE", value: "file", otherwise: "the system's",
        "Certificates (PEM) to trust of what answers as APNs, for a simulator")

    // MARK: App Store Connect

    static let driftInterval = Setting(
        "drift-interval", "DOORSTEP_DRIFT_INTERVAL", default: 24, in: 0...8_760,
        """
        Every how many hours a server looks whether App Store Connect still has what was registered, where a clip is \
        connected; 0 for never
        """)
    static let appStore = Setting<StoreURL, Void>(
        "app-store", "DOORSTEP_APP_STORE", value: "url", otherwise: "Apple's",
        "Where App Store Connect is, such as http://127.0.0.1:2199 of a simulator")

    // MARK: Domains

    static let domainCheckInterval = Setting(
        "domain-check-interval", "DOORSTEP_DOMAIN_CHECK_INTERVAL", default: 24, in: 0...8_760,
        """
        Hours between two checks of a domain's proof; 0 checks only domains that another tenant has proved too
        """)

    // MARK: Logs and secrets

    static let logLevel = Setting(
        "log-level", "DOORSTEP_LOG_LEVEL", default: Logger.Level.info, value: "level",
        range: Logger.Level.allCases.map(\.rawValue).joined(separator: ", "),
        """
        What is logged. Requests that were answered as asked, and what strangers were refused, are at debug only; of \
        other refusals the first of a kind, and the rest by count
        """, show: \.rawValue, parse: { Logger.Level(rawValue: $0) })
    static let tokenSecret = Setting<String, Void>(
        nil, "DOORSTEP_TOKEN_SECRET",
        """
        What the keys are derived from that seal push tokens, the secrets of webhooks and the keys for App Store \
        Connect: 32 bytes or more; several, separated by commas: the first seals, all open. Without it no instances are \
        registered and nothing is sent
        """)
    static let signingSecret = Setting<String, Void>(
        nil, "DOORSTEP_SIGNING_SECRET",
        """
        What the tenants' keys for signed places are derived from: 32 bytes or more; several, separated by commas, \
        while one is replaced; and those of App Attest's challenges and tokens. Without it signed places and attestations are refused
        """)

    /// In the order of the guide.
    static let all: [SettingDescription] = [
        databaseURL.description, embeddedPostgres.description, server.description, key.description,
        tenant.description, host.description,
        port.description, operationsPort.description, operationsHost.description, tlsCertificate.description,
        tlsKey.description, maximumConnections.description,
        shutdownTimeout.description, trustedProxies.description, consoleHost.description,
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
        tokenSecret.description,
        signingSecret.description,
    ]
}
