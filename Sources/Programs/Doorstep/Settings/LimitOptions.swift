import ArgumentParser
import Tenancy

/// The server's limits for tenants without their own limits.
struct LimitOptions: ParsableArguments {
    @Option(Settings.keyLimit) var keyLimit: RateLimit?
    @Option(Settings.clientLimit) var clientLimit: RateLimit?
    @Option(Settings.newInstanceLimit) var newInstanceLimit: RateLimit?
    @Option(Settings.clientNewInstanceLimit) var clientNewInstanceLimit: RateLimit?
    @Option(Settings.newAttestKeyLimit) var newAttestKeyLimit: RateLimit?
    @Option(Settings.clientNewAttestKeyLimit) var clientNewAttestKeyLimit: RateLimit?

    func limits() throws -> RequestLimits {
        RequestLimits(
            key: try Settings.keyLimit.value(keyLimit),
            client: try Settings.clientLimit.value(clientLimit),
            newInstances: try Settings.newInstanceLimit.value(newInstanceLimit),
            clientNewInstances: try Settings.clientNewInstanceLimit.value(clientNewInstanceLimit),
            newAttestKeys: try Settings.newAttestKeyLimit.value(newAttestKeyLimit),
            clientNewAttestKeys: try Settings.clientNewAttestKeyLimit.value(clientNewAttestKeyLimit))
    }
}
