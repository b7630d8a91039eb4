public import ArgumentParser
import Foundation
public import Invocation
public import Locations
public import RateLimiting
public import Tenancy

// What a command takes as an argument or option, parsed once, here.

extension TenantSlug: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension BundleID: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension TeamID: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension LocationIdentifier: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

extension KeyID: ExpressibleByArgument {
    public init?(argument: String) {
        guard let uuid = UUID(uuidString: argument) else { return nil }
        self.init(uuid)
    }
}

extension KeyKind: ExpressibleByArgument {}
extension ExperienceKind: ExpressibleByArgument {}
extension InvocationSource: ExpressibleByArgument {}
extension ConfirmationRequest.LocationAccess: ExpressibleByArgument {}
extension Scope: ExpressibleByArgument {}

extension RateLimit: ExpressibleByArgument {
    /// `RATE` or `RATE:BURST`; without a burst, four times the rate.
    public init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(parts.count), let rate = parts[0], let burst = parts.last ?? nil else {
            return nil
        }
        self.init(
            perSecond: rate, burst: parts.count == 2 ? burst : min(4 * rate, RateLimit.range.upperBound))
    }
}
