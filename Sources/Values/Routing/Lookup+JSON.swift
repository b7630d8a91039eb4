import Geodesy
public import Invocation
public import JSON
import Tenancy

extension Lookup {
    /// What is answered where the URL leads to a location, as JSON in UTF-8.
    public func answer(to url: InvocationURL) throws(LookupRefusal) -> [UInt8] {
        guard case .found(let experience, let location) = self else { throw LookupRefusal(self) }
        var writer = JSONWriter()
        writer.write(literal: #"{"experience":"#)
        writer.write(experience)
        writer.write(literal: #","location":"#)
        writer.write(location)
        writer.write(literal: #","url":"#)
        writer.write(quoted: url.canonical)
        writer.write(literal: "}")
        return writer.bytes
    }
}

/// A URL leads to no location.
public struct LookupRefusal: Refusal {
    public let code: String
    public let description: String
    public let members: JSONObject

    fileprivate init(_ lookup: Lookup) {
        members = lookup.experience.map { ["experience": JSONValue($0)] } ?? [:]
        switch lookup {
        case .doesNotMatch: (code, description) = ("does_not_match", "no experience matches the URL")
        case .noIdentifier: (code, description) = ("no_identifier", "the URL names no location")
        case .unknownIdentifier, .shortCodeAgain, .found:
            (code, description) = ("unknown_identifier", "the URL names a location that is not known")
        }
    }
}

/// What answers are made of, members in the order of their keys.
extension JSONWriter {
    package mutating func write(_ experience: RoutedExperience) {
        write(literal: #"{"clip":"#)
        write(quoted: experience.clip.text)
        write(literal: #","kind":"#)
        write(quoted: experience.kind.rawValue)
        write(literal: #","url":"#)
        write(quoted: experience.url)
        write(literal: "}")
    }

    /// `region` holds what `CLCircularRegion(center:radius:identifier:)` takes; `details` are left out where there are none.
    package mutating func write(_ location: Location) {
        if location.details.isEmpty {
            write(literal: #"{"identifier":"#)
        } else {
            write(literal: #"{"details":"#)
            location.details.json.withUnsafeBufferPointer { write($0) }
            write(literal: #","identifier":"#)
        }
        write(quoted: location.identifier.text)
        write(literal: #","name":"#)
        if let name = location.name { write(quoted: name) } else { write(literal: "null") }
        write(literal: #","region":{"center":{"latitude":"#)
        write(finite: location.region.center.latitude)
        write(literal: #","longitude":"#)
        write(finite: location.region.center.longitude)
        write(literal: #"},"identifier":"#)
        write(quoted: location.identifier.text)
        write(literal: #","radius":"#)
        write(finite: location.region.radius.meters)
        write(literal: "}}")
    }
}

extension JSONValue {
    public init(_ experience: RoutedExperience) {
        self = [
            "url": .string(experience.url), "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text),
        ]
    }
}
