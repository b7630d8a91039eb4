import ArgumentParser
import HTTPAPI
import RateLimiting

/// What a server holds requests to, and whom it believes about clients.
struct LimitSettings: ParsableArguments {
    /// A limit, or none.
    enum Setting: ExpressibleByArgument, LosslessStringConvertible {
        case limit(RateLimit)
        case off

        init?(argument: String) {
            if argument == "off" {
                self = .off
            } else if let limit = RateLimit(argument) {
                self = .limit(limit)
            } else {
                return nil
            }
        }

        init?(_ description: String) { self.init(argument: description) }

        var description: String {
            switch self {
            case .limit(let limit): limit.description
            case .off: "off"
            }
        }

        var limit: RateLimit? {
            switch self {
            case .limit(let limit): limit
            case .off: nil
            }
        }
    }

    @Option(
        name: .customLong("key-limit"),
        help: ArgumentHelp(
            """
            How often a key may be used, unless its tenant has a limit of its own: requests a second, and at once; or \
            'off'. (environment: DOORSTEP_KEY_LIMIT, default: 5000:20000)
            """, valueName: "rate[:burst]"))
    var keyLimit: Setting?
    @Option(
        name: .customLong("client-limit"),
        help: ArgumentHelp(
            """
            How often one client address may use a tenant's publishable keys, or send no valid key. \
            (environment: DOORSTEP_CLIENT_LIMIT, default: 50:1000)
            """, valueName: "rate[:burst]"))
    var clientLimit: Setting?
    @Option(
        name: .customLong("new-instance-limit"),
        help: ArgumentHelp(
            """
            How many instances that were not known a tenant gets, unless it has a limit of its own: a second, and at \
            once; or 'off'. (environment: DOORSTEP_NEW_INSTANCE_LIMIT, default: 50:20000)
            """, valueName: "rate[:burst]"))
    var newInstanceLimit: Setting?
    @Option(
        name: .customLong("client-new-instance-limit"),
        help: ArgumentHelp(
            """
            How many of these one client address may add with a tenant's publishable keys. \
            (environment: DOORSTEP_CLIENT_NEW_INSTANCE_LIMIT, default: 1:2000)
            """, valueName: "rate[:burst]"))
    var clientNewInstanceLimit: Setting?
    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            """
            An address or range of proxies, such as 10.0.0.0/8, whose X-Forwarded-For is believed; can be repeated. \
            (environment: DOORSTEP_TRUSTED_PROXIES, separated by commas; default: none)
            """, valueName: "cidr"))
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("max-connections"),
        help: """
            How many connections may be open at once; others wait until one ends. \
            (environment: DOORSTEP_MAX_CONNECTIONS, default: 10000)
            """)
    var maximumConnections: Int?
    @Option(
        name: .customLong("shutdown-timeout"),
        help: """
            For how many seconds after SIGTERM requests under way may go on. \
            (environment: DOORSTEP_SHUTDOWN_TIMEOUT, default: 25)
            """)
    var shutdownTimeout: Int?

    func apply(to settings: inout APIServer.Settings) throws {
        if let count = try maximumConnections ?? Environment.value("DOORSTEP_MAX_CONNECTIONS", as: Int.self) {
            guard (1...1_000_000).contains(count) else {
                throw ValidationError("--max-connections is from 1 to 1000000")
            }
            settings.maximumConnections = count
        }
        if let seconds = try shutdownTimeout ?? Environment.value("DOORSTEP_SHUTDOWN_TIMEOUT", as: Int.self) {
            guard (0...3_600).contains(seconds) else {
                throw ValidationError("--shutdown-timeout is from 0 to 3600 seconds")
            }
            settings.shutdownTimeout = .seconds(seconds)
        }
        for (limit, flag, variable) in [
            (\RequestLimits.key, keyLimit, "DOORSTEP_KEY_LIMIT"),
            (\.client, clientLimit, "DOORSTEP_CLIENT_LIMIT"),
            (\.newInstances, newInstanceLimit, "DOORSTEP_NEW_INSTANCE_LIMIT"),
            (\.clientNewInstances, clientNewInstanceLimit, "DOORSTEP_CLIENT_NEW_INSTANCE_LIMIT"),
        ] {
            guard let setting = try flag ?? Environment.value(variable, as: Setting.self) else { continue }
            settings.limits[keyPath: limit] = setting.limit
        }
        let ranges =
            trustedProxies.isEmpty
            ? Environment.text("DOORSTEP_TRUSTED_PROXIES")?.split(separator: ",").map(String.init) ?? []
            : trustedProxies
        settings.trustedProxies = try ranges.map { text in
            guard let range = AddressRange(text) else {
                throw ValidationError("--trusted-proxy takes an address or a range such as 10.0.0.0/8")
            }
            return range
        }
    }
}
