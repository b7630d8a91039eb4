import Geodesy
import Invocation
import JSON
import Locations
import Receipts
import Routing
import Tenancy

/// What answers are made of, members in the order of their keys.
extension JSONWriter {
    mutating func write(_ experience: RoutedExperience) {
        write(literal: #"{"clip":"#)
        write(quoted: experience.clip.text)
        write(literal: #","kind":"#)
        write(quoted: experience.kind.rawValue)
        write(literal: #","url":"#)
        write(quoted: experience.url)
        write(literal: "}")
    }

    /// `region` holds what `CLCircularRegion(center:radius:identifier:)` takes.
    mutating func write(_ location: Location) {
        write(literal: #"{"identifier":"#)
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

    mutating func write(_ confirmation: Confirmation, receipt: String?) {
        write(literal: confirmation.isCertain ? #"{"certain":true,"error":"# : #"{"certain":false,"error":"#)
        if let error = confirmation.error { write(error) } else { write(literal: "null") }
        write(literal: #","location":"#)
        if let location = confirmation.location { write(location) } else { write(literal: "null") }
        write(literal: #","outcome":"#)
        write(quoted: confirmation.outcome.rawValue)
        if let receipt {
            write(literal: #","receipt":"#)
            write(quoted: receipt)
        }
        write(literal: "}")
    }

    private mutating func write(_ error: ActivationError) {
        write(literal: #"{"code":"#)
        write(error.code)
        write(literal: #","domain":"#)
        write(quoted: ActivationError.domain)
        write(literal: #","name":"#)
        write(quoted: error.name)
        write(literal: "}")
    }
}

extension JSONValue {
    init(_ experience: RoutedExperience) {
        self = [
            "url": .string(experience.url), "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text),
        ]
    }
}
