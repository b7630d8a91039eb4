import Formats

/// The sound of a notification.
///
/// Source: "Generating a remote notification", tables 1 and 3. [Apple]
public enum Sound: Sendable, Hashable {
    /// A file in the App Clip, or `default` for the system's sound.
    case named(String)
    /// The dictionary, which can mark the sound as that of a critical alert.
    case dictionary(isCritical: Bool, name: String, volume: Double?)
}

extension Sound {
    init(json: JSONValue, key: String, of parent: JSONObjectReader) throws(JSONFieldError) {
        switch json {
        case .string(let name):
            self = .named(name)
        case .object(let members):
            var reader = JSONObjectReader(members, key: key, of: parent)
            let isCritical = try reader.optionalFlag("critical") ?? false
            let name = try reader.requiredString("name")
            let volume = try reader.optionalDouble("volume")
            try reader.finish()
            self = .dictionary(isCritical: isCritical, name: name, volume: volume)
        default:
            throw .wrongType(path: parent.path(of: key), expected: "a string or an object")
        }
    }

    /// The sound's JSON, without a volume that is not finite, which validation refuses.
    var json: JSONValue {
        switch self {
        case .named(let name):
            return .string(name)
        case .dictionary(let isCritical, let name, let volume):
            var object: JSONObject = ["critical": isCritical ? 1 : 0, "name": .string(name)]
            object["volume"] = volume.flatMap { JSONNumber($0) }.map { .number($0) }
            return .object(object)
        }
    }
}
