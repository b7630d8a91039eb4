public import Formats
package import Geodesy
public import Invocation
import Tenancy

extension Lookup {
    /// Returns the response if the URL leads to a location, as JSON in UTF-8.
    public func response(to url: InvocationURL) throws(LookupRefusal) -> [UInt8] {
        guard case .found(let experience, let location) = self else { throw LookupRefusal(self) }
        var writer = JSONWriter()
        writer.write(literal: #"{"experience":"#)
        writer.write(experience)
        writer.write(literal: #","location":"#)
        writer.write(location)
        writer.write(literal: #","url":"#)
        writer.write(quoted: url.bytes.span)
        writer.write(literal: "}")
        return writer.bytes
    }
}

/// A URL leads to no location.
public struct LookupRefusal: Refusal {
    public let code: String
    public let description: String
    public let members: JSONObject

    init(_ lookup: Lookup) {
        members = lookup.experience.map { ["experience": JSONValue($0)] } ?? [:]
        switch lookup {
        case .doesNotMatch: (code, description) = ("does_not_match", "no experience matches the URL")
        case .noIdentifier: (code, description) = ("no_identifier", "the URL names no location")
        case .unknownIdentifier, .shortCodeAgain, .found:
            (code, description) = ("unknown_identifier", "the URL names an unknown location")
        }
    }
}

extension NearbySearch {
    /// The response as JSON in UTF-8. Each location has its distance in metres, rounded to millimetres, and the URL that leads to
    /// it. `truncated` is omitted unless it is true.
    public var response: [UInt8] {
        var writer = JSONWriter(capacity: 512 * (locations.count + 1))
        writer.write(literal: #"{"data":["#)
        for (index, place) in locations.enumerated() {
            if index > 0 { writer.write(literal: ",") }
            writer.write(place.location, from: place.distance, by: place.url)
        }
        writer.write(literal: isTruncated ? #"],"truncated":true}"# : "]}")
        return writer.bytes
    }
}

/// The objects in responses. Members are in alphabetical order, except the optional texts of a location (``LocationColumn/texts``),
/// which follow its details.
extension JSONWriter {
    package mutating func write(_ experience: IndexedExperience) {
        write(literal: #"{"clip":"#)
        write(quoted: experience.clip.text)
        write(literal: #","kind":"#)
        write(quoted: experience.kind.rawValue)
        write(literal: #","url":"#)
        write(quoted: experience.url)
        write(literal: "}")
    }

    /// Writes a location. `region` contains the arguments of `CLCircularRegion(center:radius:identifier:)`;
    /// `details` and further texts are omitted if there are none.
    package mutating func write(
        _ location: Location, from distance: Distance? = nil, by url: InvocationURL? = nil
    ) {
        write(literal: "{")
        if !location.details.isEmpty {
            write(literal: #""details":"#)
            location.details.json.withUnsafeBufferPointer { write($0) }
            write(literal: ",")
        }
        for (name, text) in location.texts.members {
            write(quoted: name)
            write(literal: ":")
            write(quoted: text)
            write(literal: ",")
        }
        if let distance {
            write(literal: #""distance":"#)
            write(finite: (distance.meters * 1_000).rounded() / 1_000)
            write(literal: ",")
        }
        write(literal: #""identifier":"#)
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
        write(literal: "}")
        if let url {
            write(literal: #","url":"#)
            write(quoted: url.bytes.span)
        }
        write(literal: "}")
    }
}

extension JSONValue {
    public init(_ experience: IndexedExperience) {
        self = [
            "url": .string(experience.url), "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text),
        ]
    }
}
