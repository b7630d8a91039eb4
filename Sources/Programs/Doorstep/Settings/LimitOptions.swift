import ArgumentParser
import RateLimiting

/// What a server holds requests to, where a tenant has no limits of its own.
struct LimitOptions: ParsableArguments {
    @Option(Settings.keyLimit) var keyLimit: OptionalLimit?
    @Option(Settings.clientLimit) var clientLimit: OptionalLimit?
    @Option(Settings.newInstanceLimit) var newInstanceLimit: OptionalLimit?
    @Option(Settings.clientNewInstanceLimit) var clientNewInstanceLimit: OptionalLimit?
    @Option(Settings.newAttestKeyLimit) var newAttestKeyLimit: OptionalLimit?
    @Option(Settings.clientNewAttestKeyLimit) var clientNewAttestKeyLimit: OptionalLimit?

    func limits() throws -> RequestLimits {
        RequestLimits(
            key: try Settings.keyLimit.value(keyLimit).limit,
            client: try Settings.clientLimit.value(clientLimit).limit,
            newInstances: try Settings.newInstanceLimit.value(newInstanceLimit).limit,
            clientNewInstances: try Settings.clientNewInstanceLimit.value(clientNewInstanceLimit).limit,
            newAttestKeys: try Settings.newAttestKeyLimit.value(newAttestKeyLimit).limit,
            clientNewAttestKeys: try Settings.clientNewAttestKeyLimit.value(clientNewAttestKeyLimit).limit)
    }
}

/// A limit, or none.
enum OptionalLimit: ExpressibleByArgument, CustomStringConvertible {
    case limit(RateLimit)
    case off

    init(_ limit: RateLimit?) {
        self = limit.map(OptionalLimit.limit) ?? .off
    }

    init?(argument: String) {
        if argument == "off" {
            self = .off
        } else if let limit = RateLimit(argument) {
            self = .limit(limit)
        } else {
            return nil
        }
    }

    var description: String { limit?.description ?? "off" }

    var limit: RateLimit? {
        if case .limit(let limit) = self { limit } else { nil }
    }
}
