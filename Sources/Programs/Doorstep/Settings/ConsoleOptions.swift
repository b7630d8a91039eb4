import ArgumentParser
import Console

/// Where the console listens, and how browsers reach it.
struct ConsoleOptions: ParsableArguments {
    @Option(Settings.consoleHost) var host: String?
    @Option(Settings.consolePort) var port: Int?
    @Option(Settings.consoleOrigins) var origins: [[ConsoleOrigin]] = []

    func settings() throws -> ConsoleServer.Settings {
        var settings = ConsoleServer.Settings()
        settings.host = try Settings.consoleHost.value(host)
        settings.port = try Settings.consolePort.value(port)
        settings.origins = try Settings.consoleOrigins.value(origins.isEmpty ? nil : origins.flatMap(\.self))
        // In the open a session's cookie would be anybody's.
        guard settings.isOnLoopback || !settings.origins.isEmpty else {
            throw ValidationError(
                "on an address that others reach, the console needs a proxy that speaks TLS: name the origin that it has by --console-origin"
            )
        }
        return settings
    }
}
