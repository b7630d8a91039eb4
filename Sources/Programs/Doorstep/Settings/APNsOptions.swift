import APNsClient
import ArgumentParser
import Foundation

/// The address of APNs, and the keys for it.
struct APNsOptions: ParsableArguments {
    @Option(Settings.apnsKeys) var keys: String?
    @Option(Settings.apnsProduction) var production: HostAndPort?
    @Option(Settings.apnsSandbox) var sandbox: HostAndPort?
    @Option(Settings.apnsAuthorities) var authorities: String?
    @Option(Settings.apnsConnections) var connections: Int?
    @Option(Settings.apnsTimeout) var timeout: Int?

    /// Nil without keys.
    func sending() throws -> (settings: APNsClient.Settings, keys: APNsKeyList)? {
        var settings = APNsClient.Settings()
        if let address = try Settings.apnsProduction.value(production) {
            settings.production = APNsClient.Service(address.value)
        }
        if let address = try Settings.apnsSandbox.value(sandbox) {
            settings.sandbox = APNsClient.Service(address.value)
        }
        settings.authorities = try Settings.apnsAuthorities.value(authorities)
        settings.connections = try Settings.apnsConnections.value(connections)
        settings.requestTimeout = .seconds(try Settings.apnsTimeout.value(timeout))
        return try Settings.apnsKeys.value(keys).map { [settings] in (settings, APNsKeyList(path: $0)) }
    }
}

/// A host and a port, such as `127.0.0.1:2197`.
struct HostAndPort: ExpressibleByArgument {
    let value: APNsClient.Address

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), colon > argument.startIndex,
            let port = UInt16(argument[argument.index(after: colon)...]), port > 0
        else { return nil }
        let host = argument[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        value = APNsClient.Address(host: host, port: Int(port))
    }
}
