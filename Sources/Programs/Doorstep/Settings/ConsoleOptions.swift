import APNsClient
import ArgumentParser
import Console
import Formats

/// The address of the console, and its origins for browsers.
struct ConsoleOptions: ParsableArguments {
    @Option(Settings.consoleHost) var host: String?
    @Option(Settings.consolePort) var port: Int?
    @Option(Settings.consoleOrigins) var origins: [[ConsoleOrigin]] = []

    func settings() throws -> ConsoleServer.Settings {
        var settings = ConsoleServer.Settings()
        settings.host = try Settings.consoleHost.value(host)
        settings.port = try Settings.consolePort.value(port)
        settings.origins = try Settings.consoleOrigins.value(origins.isEmpty ? nil : origins.flatMap(\.self))
        // Without TLS, others could read the session's cookie.
        guard settings.isOnLoopback || !settings.origins.isEmpty else {
            throw ValidationError(
                "on an address that other machines reach, the console needs a TLS proxy: set its origin with --console-origin"
            )
        }
        return settings
    }
}

/// Sign-in by a trusted proxy, in addition to links.
struct ConsoleProxyOptions: ParsableArguments {
    @Option(Settings.consoleProxies) var proxies: [[AddressRange]] = []
    @Option(Settings.consoleUserHeader) var userHeader: String?
    @Option(Settings.consoleGroupsHeader) var groupsHeader: String?
    @Option(Settings.consoleGroups) var groups: [[ConsoleGroup]] = []

    func add(to settings: inout ConsoleServer.Settings) throws {
        settings.proxies = try Settings.consoleProxies.value(
            proxies.isEmpty ? nil : proxies.flatMap(\.self))
        guard settings.isOnLoopback || !settings.proxies.isEmpty else {
            throw ValidationError(
                "on an address that other machines reach, the console must know its proxy: set its address with --console-proxy"
            )
        }
        let user = try Settings.consoleUserHeader.value(userHeader)
        let groupsField = try Settings.consoleGroupsHeader.value(groupsHeader)
        let groups = try Settings.consoleGroups.value(self.groups.isEmpty ? nil : self.groups.flatMap(\.self))
        guard user != nil || groupsField != nil || !groups.isEmpty else { return }
        // If only some of these options are set, the proxy would admit no user, or every user.
        guard let user, let groupsField, !groups.isEmpty, !settings.proxies.isEmpty,
            !settings.origins.isEmpty
        else {
            throw ValidationError(
                "--console-user-header, --console-groups-header, --console-group, --console-origin and --console-proxy go together"
            )
        }
        guard let signIn = ProxySignIn(userField: user, groupsField: groupsField, groups: groups) else {
            throw ValidationError(
                "--console-user-header and --console-groups-header must name two different header fields")
        }
        settings.proxySignIn = signIn
    }
}

/// The destination of the server's notifications. Every page of the console warns if it is not Apple.
struct ConsoleDetourOptions: ParsableArguments {
    @Option(Settings.apnsProduction) var production: HostAndPort?
    @Option(Settings.apnsSandbox) var sandbox: HostAndPort?

    func texts() throws -> [String] {
        let detours = [
            ("production", try Settings.apnsProduction.value(production)),
            ("sandbox", try Settings.apnsSandbox.value(sandbox)),
        ]
        return detours.compactMap { environment, address in
            address.map { "APNs \(environment) is \($0.value.host):\($0.value.port)" }
        }
    }
}
