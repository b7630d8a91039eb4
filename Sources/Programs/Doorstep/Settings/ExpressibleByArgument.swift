import APNsPayload
public import Administration
public import AppAttest
public import ArgumentParser
public import Cards
public import Confirmations
public import Formats
import Foundation
public import Invocation
public import Notifications
public import ServerClient
public import Tenancy
public import TenantSites

// Arguments and options are parsed here, once, into their types.

extension LogFormat: ExpressibleByArgument {}

extension TenantSlug: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension DisplayName: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

/// A name to set. An empty text removes the name.
struct NewName: Sendable, ExpressibleByArgument {
    let name: DisplayName?

    init?(argument: String) {
        guard !argument.isEmpty else {
            name = nil
            return
        }
        guard let name = DisplayName(argument: argument) else { return nil }
        self.name = name
    }

    /// As a member of a merge patch.
    var json: JSONValue { name.map { .string($0.text) } ?? .null }
}

extension WebOrigin: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

/// A quota to set, as `KIND=ROWS[:BYTES]`; `KIND=default` returns the kind to its default.
struct QuotaSetting: Sendable, ExpressibleByArgument {
    let kind: QuotaKind
    let quota: Quota?

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2,
            let kind = QuotaKind(rawValue: String(parts[0]).replacing("-", with: "_"))
        else { return nil }
        self.kind = kind
        guard parts[1] != "default" else {
            quota = nil
            return
        }
        guard let quota = Quota(String(parts[1])) else { return nil }
        self.quota = quota
    }
}

extension ServerURL: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension ImageDigest: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension BundleID: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension DomainName: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension WebhookURL: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension WebhookID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension NameServer: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension AppID: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension LocationIdentifier: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension AttestKeyID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension KeyID: ExpressibleByArgument {
    public init?(argument: String) {
        guard let uuid = UUID(text: argument) else { return nil }
        self.init(uuid)
    }
}

extension InstanceID: ExpressibleByArgument {
    public init?(argument: String) {
        guard let uuid = UUID(text: argument) else { return nil }
        self.init(uuid)
    }
}

extension ValidationCategory: ExpressibleByArgument {
    public init?(argument: String) { self.init(name: argument) }
    public var defaultValueDescription: String { name }
    public static var allValueStrings: [String] { allCases.map(\.name) }
}

extension AttestationEnvironment: ExpressibleByArgument {}
extension ClipAttestation.Demand: ExpressibleByArgument {}
extension ClipAttestation.ConfirmationDemand: ExpressibleByArgument {}
extension KeyKind: ExpressibleByArgument {}
extension RecordedMessage.State: ExpressibleByArgument {}
extension ExperienceKind: ExpressibleByArgument {}
extension InvocationSource: ExpressibleByArgument {}
extension StatisticsGrouping: ExpressibleByArgument {}
extension ConfirmationRequest.LocationAccess: ExpressibleByArgument {}
extension Scope: ExpressibleByArgument {}
extension APNsEnvironment: ExpressibleByArgument {}
extension CollapsePolicy: ExpressibleByArgument {}
extension DeliveryState: ExpressibleByArgument {}
extension WebhookEvent: ExpressibleByArgument {}

extension RateLimit: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
