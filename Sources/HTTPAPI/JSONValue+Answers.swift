import Geodesy
import Invocation
import JSON
import Locations
import Tenancy

extension JSONValue {
    init(_ experience: Experience) {
        self = [
            "url": .string(experience.url.canonical),
            "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text),
        ]
    }

    /// `region` holds what `CLCircularRegion(center:radius:identifier:)` takes.
    init(_ location: Location) {
        self = [
            "identifier": .string(location.identifier.text),
            "name": location.name.map(JSONValue.string) ?? .null,
            "region": [
                "center": [
                    "latitude": JSONValue(finite: location.region.center.latitude),
                    "longitude": JSONValue(finite: location.region.center.longitude),
                ],
                "radius": JSONValue(finite: location.region.radius.meters),
                "identifier": .string(location.identifier.text),
            ],
        ]
    }

    init(_ confirmation: Confirmation) {
        self = [
            "outcome": .string(confirmation.outcome.rawValue),
            "certain": .bool(confirmation.isCertain),
            "error": confirmation.error.map(JSONValue.init) ?? .null,
            "location": confirmation.location.map { JSONValue($0) } ?? .null,
        ]
    }

    private init(_ error: ActivationError) {
        self = [
            "domain": .string(ActivationError.domain),
            "code": JSONValue(error.code),
            "name": .string(error.name),
        ]
    }
}
