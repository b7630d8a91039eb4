import APNsClient
import ArgumentParser
import Foundation
import JSON
import Logging
import Notifications
import Tenancy

/// How APNs is reached, and as whom.
struct APNsOptions: ParsableArguments {
    @Option(
        name: .customLong("apns-keys"),
        help: ArgumentHelp(
            """
            A file that lists the keys for APNs; without it nothing is delivered. (environment: DOORSTEP_APNS_KEYS)
            """, valueName: "file"))
    var keys: String?
    @Option(
        name: .customLong("apns-production"),
        help: ArgumentHelp(
            "Where production notifications go, instead of Apple. (environment: DOORSTEP_APNS_PRODUCTION)",
            valueName: "host:port"))
    var production: HostAndPort?
    @Option(
        name: .customLong("apns-sandbox"),
        help: ArgumentHelp(
            "Where sandbox notifications go, instead of Apple. (environment: DOORSTEP_APNS_SANDBOX)",
            valueName: "host:port"))
    var sandbox: HostAndPort?
    @Option(
        name: .customLong("apns-ca-file"),
        help: ArgumentHelp(
            """
            Certificates (PEM) to trust instead of the system's, for a simulator. (environment: DOORSTEP_APNS_CA_FILE)
            """, valueName: "file"))
    var authorities: String?
    @Option(
        name: .customLong("apns-connections"),
        help: """
            Connections to each environment for each team, at most. (environment: DOORSTEP_APNS_CONNECTIONS, default: 2)
            """)
    var connections: Int?
    @Option(
        name: .customLong("apns-timeout"),
        help: """
            For how many seconds an answer of APNs is waited for. (environment: DOORSTEP_APNS_TIMEOUT, default: 30)
            """)
    var timeout: Int?

    /// Nil without keys.
    var keyList: APNsKeyList? {
        (keys ?? Environment.text("DOORSTEP_APNS_KEYS")).map(APNsKeyList.init(path:))
    }

    /// Nil without keys.
    func makeClient(logger: Logger) throws -> APNsClient? {
        guard let keyList else { return nil }
        var settings = APNsClient.Settings()
        if let address = try production ?? Environment.value("DOORSTEP_APNS_PRODUCTION", as: HostAndPort.self)
        {
            settings.production = APNsClient.Service(address.value)
        }
        if let address = try sandbox ?? Environment.value("DOORSTEP_APNS_SANDBOX", as: HostAndPort.self) {
            settings.sandbox = APNsClient.Service(address.value)
        }
        settings.authorities = authorities ?? Environment.text("DOORSTEP_APNS_CA_FILE")
        settings.connections =
            try connections ?? Environment.value("DOORSTEP_APNS_CONNECTIONS", as: Int.self)
            ?? settings.connections
        guard (1...100).contains(settings.connections) else {
            throw ValidationError("--apns-connections is from 1 to 100")
        }
        settings.requestTimeout = .seconds(try requestTimeout())
        return try APNsClient(settings, keys: try keyList.keys(), logger: logger)
    }

    /// In seconds.
    func requestTimeout() throws -> Int {
        let timeout = try timeout ?? Environment.value("DOORSTEP_APNS_TIMEOUT", as: Int.self) ?? 30
        guard (1...300).contains(timeout) else {
            throw ValidationError("--apns-timeout is from 1 to 300 seconds")
        }
        return timeout
    }
}

/// A host and a port, such as `127.0.0.1:2197`.
struct HostAndPort: ExpressibleByArgument, LosslessStringConvertible {
    let value: APNsClient.Address

    init?(argument: String) { self.init(argument) }

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        value = APNsClient.Address(host: host, port: Int(port))
    }

    var description: String { "\(value.host):\(value.port)" }
}
