public import Foundation
import Geodesy
public import Invocation
public import Routing
public import Tenancy

/// Finds the business an invocation URL stands for, and tells whether a person is there.
///
/// Answers from a routing table, without waiting for anything; every refusal is an answer. Safe to use from many
/// threads; holds no state of its own.
public struct LocationDirectory: Sendable {
    private let signatures: any PlaceSignatures
    private let recorder: any ConfirmationRecorder

    public init(signatures: any PlaceSignatures, recorder: any ConfirmationRecorder) {
        self.signatures = signatures
        self.recorder = recorder
    }

    /// The experience of the tenant that the URL invokes, and the location it leads to.
    public func lookUp(_ url: InvocationURL, of tenant: TenantID, in table: RoutingTable) -> Lookup {
        find(url, of: tenant, in: table, followingCodes: true)
    }

    /// Answers the question that `confirmAcquired(in:)` answers on a device, and records the outcome.
    ///
    /// The order of the refusals is ours; Apple documents none.
    /// - Parameter now: The time of the request, recorded to the minute.
    public func confirm(
        _ request: ConfirmationRequest, of tenant: TenantID, in table: RoutingTable, at now: Date
    ) -> Confirmation {
        let location = lookUp(request.url, of: tenant, in: table).location
        let confirmation = Self.decide(request, at: location)
        recorder.record(
            ConfirmationRecord(
                location: location, outcome: confirmation.outcome, source: request.source, at: now),
            of: tenant)
        return confirmation
    }

    static func decide(_ request: ConfirmationRequest, at location: Location?) -> Confirmation {
        guard let location else { return .doesNotMatch }
        if case .device(let result) = request.evidence { return decide(result, at: location) }
        if request.source.rulesOutPhysicalCode || request.access == .denied { return .disallowed }
        guard case .coordinate(let coordinate, let accuracy) = request.evidence, accuracy?.meters ?? 0 >= 0
        else { return .undetermined(at: location) }
        let containment = location.region.containment(
            of: coordinate, horizontalAccuracy: accuracy ?? Distance(meters: 0))
        return Confirmation(
            containment.isInside ? .inRegion : .notInRegion, isCertain: containment.isCertain,
            evidence: .coordinate, location: location)
    }

    /// The system has decided already, and knows how the clip was launched.
    private static func decide(
        _ result: ConfirmationRequest.DeviceResult, at location: Location
    ) -> Confirmation {
        switch result {
        case .inRegion(let isInRegion):
            Confirmation(isInRegion ? .inRegion : .notInRegion, evidence: .device, location: location)
        case .error(ActivationError.disallowed.code):
            Confirmation(.disallowed, evidence: .device, error: .disallowed)
        case .error(ActivationError.doesNotMatch.code):
            Confirmation(.doesNotMatch, evidence: .device, error: .doesNotMatch)
        case .error(let code):
            .undetermined(at: location, evidence: .device, code: code)
        }
    }

    private func find(
        _ url: InvocationURL, of tenant: TenantID, in table: RoutingTable, followingCodes: Bool
    ) -> Lookup {
        guard let match = table.match(url, of: tenant) else { return .doesNotMatch }
        let experience = table.experience(match)
        let identifier: LocationIdentifier
        if case .location(let bound) = experience.binding {
            identifier = bound
        } else {
            switch experience.readIdentifier(in: url, by: match) {
            case .absent:
                return .noIdentifier(experience)
            case .identifier(let read):
                identifier = read
            case .place(let place):
                return locate(place, by: experience, of: tenant)
            case .shortCode(let code):
                // A code stands for one URL, which is resolved as if it had been scanned; it cannot hold a
                // code again.
                guard followingCodes, let stored = table.url(ofShortCode: code, of: tenant) else {
                    return .unknownIdentifier(experience)
                }
                return find(stored, of: tenant, in: table, followingCodes: false)
            }
        }
        guard let location = table.location(identifier, of: tenant) else {
            return .unknownIdentifier(experience)
        }
        return .found(experience, location)
    }

    /// The place that a URL carries in itself, if the tenant signed it.
    private func locate(_ place: EncodedPlace, by experience: RoutedExperience, of tenant: TenantID) -> Lookup
    {
        guard signatures.isAuthentic(place.signature, of: place.signedText, tenant: tenant) else {
            return .unknownIdentifier(experience)
        }
        guard
            let center = try? Coordinate(latitude: place.latitude, longitude: place.longitude),
            let region = try? CircularRegion(
                center: center, radius: place.radius.map { Distance(meters: $0) } ?? Self.radiusOfSignedPlaces
            )
        else { return .noIdentifier(experience) }
        return .found(experience, Location(identifier: place.identifier, name: nil, region: region))
    }

    /// The radius of a place whose URL gives none [ours].
    static let radiusOfSignedPlaces = Distance(meters: 100)
}
