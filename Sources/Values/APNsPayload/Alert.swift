import Formats

/// The texts of a notification.
public enum Alert: Sendable, Hashable {
    /// The body alone, written as a string instead of the dictionary.
    case body(String)
    /// The parts of the alert dictionary.
    case parts(Parts)

    /// The alert dictionary; one of title, subtitle and body at least. [ours]
    ///
    /// Source: "Generating a remote notification", table 2. [Apple]
    public struct Parts: Sendable, Hashable {
        public var title: Text?
        public var subtitle: Text?
        public var body: Text?
        /// The launch image or storyboard shown when the person opens the App Clip.
        public var launchImage: String?
        /// The sound of an alert that comes with a Live Activity, for that alone. [Apple]
        public var sound: String?

        public init(
            title: Text? = nil, subtitle: Text? = nil, body: Text? = nil, launchImage: String? = nil,
            sound: String? = nil
        ) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.launchImage = launchImage
            self.sound = sound
        }
    }

    /// Plain text, or a key of the App Clip's localized strings.
    public enum Text: Sendable, Hashable {
        case plain(String)
        /// A key of `Localizable.strings`, and the values that replace each `%@` in the localized text.
        case localized(key: String, arguments: [String] = [])
    }
}

// MARK: - JSON

extension Alert {
    /// The position of localized texts: in keys beside the plain ones (`title-loc-key`), or for a Live
    /// Activity in an object that replaces the text (`"title": {"loc-key": …}`).
    ///
    /// Source: "Generating a remote notification", and for Live Activities the payloads of WWDC23 session
    /// 10185, "Update Live Activities with push notifications". [Apple]
    enum Style {
        case notification
        case liveActivity
    }

    /// The names of the keys of one text in the alert dictionary.
    private struct Keys {
        let plain: String
        let key: String
        let arguments: String

        static let title = Keys(plain: "title", key: "title-loc-key", arguments: "title-loc-args")
        static let subtitle = Keys(
            plain: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        static let body = Keys(plain: "body", key: "loc-key", arguments: "loc-args")
    }

    init(
        json: JSONValue, key: String, of parent: JSONObjectReader, style: Style
    ) throws(JSONFieldError) {
        if case .string(let text) = json {
            self = .body(text)
            return
        }
        guard case .object(let members) = json else {
            throw .wrongType(path: parent.path(of: key), expected: "a string or an object")
        }
        var reader = JSONObjectReader(members, key: key, of: parent)
        var parts = Parts()
        parts.title = try Self.readText(.title, from: &reader, style: style)
        parts.subtitle = try Self.readText(.subtitle, from: &reader, style: style)
        parts.body = try Self.readText(.body, from: &reader, style: style)
        parts.launchImage = try reader.optionalString("launch-image")
        if style == .liveActivity {
            parts.sound = try reader.optionalString("sound")
        }
        try reader.finish()
        self = .parts(parts)
    }

    private static func readText(
        _ keys: Keys, from reader: inout JSONObjectReader, style: Style
    ) throws(JSONFieldError) -> Text? {
        switch style {
        case .notification:
            let plain = try reader.optionalString(keys.plain)
            let key = try reader.optionalString(keys.key)
            let arguments = try reader.optionalStrings(keys.arguments)
            switch (plain, key) {
            case (nil, let key?):
                return .localized(key: key, arguments: arguments ?? [])
            case (_?, _?):
                throw .invalid(path: reader.path(of: keys.key), reason: "replaces \(keys.plain)")
            case (_, nil) where arguments != nil:
                throw .invalid(path: reader.path(of: keys.arguments), reason: "needs \(keys.key)")
            case (_, nil):
                return plain.map { .plain($0) }
            }
        case .liveActivity:
            guard let value = reader.optionalValue(keys.plain) else { return nil }
            switch value {
            case .string(let text):
                return .plain(text)
            case .object(let members):
                var reader = JSONObjectReader(members, key: keys.plain, of: reader)
                let key = try reader.requiredString("loc-key")
                let arguments = try reader.optionalStrings("loc-args") ?? []
                try reader.finish()
                return .localized(key: key, arguments: arguments)
            default:
                throw .wrongType(path: reader.path(of: keys.plain), expected: "a string or an object")
            }
        }
    }

    func json(style: Style) -> JSONValue {
        switch self {
        case .body(let text):
            return .string(text)
        case .parts(let parts):
            var object = JSONObject(minimumCapacity: 4)
            Self.write(parts.body, as: .body, into: &object, style: style)
            object["launch-image"] = parts.launchImage.map { .string($0) }
            object["sound"] = parts.sound.map { .string($0) }
            Self.write(parts.subtitle, as: .subtitle, into: &object, style: style)
            Self.write(parts.title, as: .title, into: &object, style: style)
            return .object(object)
        }
    }

    private static func write(_ text: Text?, as keys: Keys, into object: inout JSONObject, style: Style) {
        switch text {
        case nil:
            break
        case .plain(let text):
            object[keys.plain] = .string(text)
        case .localized(let key, let arguments):
            let arguments = arguments.isEmpty ? nil : JSONValue.array(arguments.map { .string($0) })
            switch style {
            case .notification:
                object[keys.key] = .string(key)
                object[keys.arguments] = arguments
            case .liveActivity:
                var text: JSONObject = ["loc-key": .string(key)]
                text["loc-args"] = arguments
                object[keys.plain] = .object(text)
            }
        }
    }
}
