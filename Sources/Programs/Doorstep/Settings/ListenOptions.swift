import ArgumentParser
import Formats
import HTTPAPI
import HTTPServer

/// The addresses of a server, its number of connections, and its trusted proxies.
struct ListenOptions: ParsableArguments {
    @Option(Settings.host) var host: String?
    @Option(Settings.port) var port: Int?
    @Option(Settings.operationsPort) var operationsPort: Int?
    @Option(Settings.operationsHost) var operationsHost: String?
    @Option(Settings.tlsCertificate) var tlsCertificate: String?
    @Option(Settings.tlsKey) var tlsKey: String?
    @Option(Settings.maximumConnections) var maximumConnections: Int?
    @Option(Settings.shutdownDelay) var shutdownDelay: Int?
    @Option(Settings.shutdownTimeout) var shutdownTimeout: Int?
    @Option(Settings.trustedProxies) var trustedProxies: [[AddressRange]] = []

    func settings() throws -> APIServer.Settings {
        var settings = APIServer.Settings()
        settings.host = try Settings.host.value(host)
        settings.port = try Settings.port.value(port)
        let operationsHost = try Settings.operationsHost.value(operationsHost)
        if let port = try Settings.operationsPort.value(operationsPort) {
            settings.operations = (operationsHost ?? settings.host, port)
        } else if operationsHost != nil {
            throw ValidationError("--operations-host requires --operations-port")
        }
        settings.maximumConnections = try Settings.maximumConnections.value(maximumConnections)
        settings.shutdownDelay = .seconds(try Settings.shutdownDelay.value(shutdownDelay))
        settings.shutdownTimeout = .seconds(try Settings.shutdownTimeout.value(shutdownTimeout))
        settings.trustedProxies = try Settings.trustedProxies.value(
            trustedProxies.isEmpty ? nil : trustedProxies.flatMap(\.self))
        switch (try Settings.tlsCertificate.value(tlsCertificate), try Settings.tlsKey.value(tlsKey)) {
        case (nil, nil): break
        case (let certificate?, let key?):
            settings.tls = try TLSIdentity(certificate: certificate, key: key)
        default: throw ValidationError("--tls-certificate and --tls-key require each other")
        }
        return settings
    }
}
