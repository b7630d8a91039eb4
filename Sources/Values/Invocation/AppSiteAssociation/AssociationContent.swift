public import Formats

/// The entries for a tenant's other services in a site's association file, beside those of Doorstep.
///
/// "If you previously added an AASA file, add the entry to the existing file" [Apple, "Associating your App
/// Clip with your website"]. The file keeps `webcredentials`, `activitycontinuation`, further
/// `applinks.details` with their excludes, `applinks.defaults` and `substitutionVariables`, and any members
/// that Apple adds in future, unchanged.
///
/// Content that contradicts the resulting file is refused [ours]. This applies to `appclips`, which
/// Doorstep writes from the tenant's clips, and to known members of another type than Apple documents. An
/// example is the older object at `applinks.details`, into which nothing can be merged. It also applies to
/// invalid App IDs, for example with a wildcard.
public struct AssociationContent: Sendable, Hashable {
    public let json: JSONObject

    /// In bytes, as it is written into the file: with ``SiteAssociation/largestDetailedSize`` three quarters of
    /// ``SiteAssociation/maximumSize``. [ours]
    public static let maximumSize = 32_768

    public init(_ json: JSONObject) throws(AssociationContentError) {
        let size = JSONValue.object(json).serialized().count
        guard size <= Self.maximumSize else { throw .tooLarge(size) }
        // PostgreSQL's jsonb has no NUL (PostgreSQL, "JSON Types").
        guard !JSONValue.object(json).hasNUL else { throw .nulCharacter }
        do throws(JSONFieldError) {
            try Self.check(json)
        } catch {
            throw .contradiction(error)
        }
        self.json = json
    }

    /// - Parameter bytes: JSON, in UTF-8.
    public init(parsing bytes: some Collection<UInt8>) throws(AssociationContentError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw .invalidJSON(error)
        }
        guard let object = value.objectValue else {
            throw .contradiction(.wrongType(path: "", expected: "an object"))
        }
        try self.init(object)
    }

    /// Refuses content that uses the ID of one of these App Clips as an app's: a clip's ID may only be
    /// under `appclips`. [Apple]
    public func check(against clips: Set<AppID>) throws(AssociationContentError) {
        let texts = Set(clips.map(\.text))
        do throws(JSONFieldError) {
            try Self.eachLinkedID(json) { id, path throws(JSONFieldError) in
                guard texts.contains(id) else { return }
                throw .invalid(path: path, reason: "is an App Clip, which belongs under appclips")
            }
        } catch {
            throw .contradiction(error)
        }
    }

    /// Returns the file merged with this content.
    ///
    /// The tenant's details come before Doorstep's: the first component that matches a URL counts [Apple],
    /// so the tenant's excludes apply whatever Doorstep adds. Defaults for all links do not apply to
    /// Doorstep's details, which then state Apple's own defaults.
    func merged(into file: JSONObject) -> JSONObject {
        var merged = file
        for (key, value) in json { merged[key] = value }
        guard let links = json[Keys.links]?.objectValue, let own = file[Keys.links]?.objectValue else {
            return merged
        }
        var all = links
        var details = own[Keys.details]?.arrayValue ?? []
        if links[Keys.defaults] != nil { details = details.map(Self.withDefaults) }
        all[Keys.details] = .array((links[Keys.details]?.arrayValue ?? []) + details)
        merged[Keys.links] = .object(all)
        return merged
    }

    private enum Keys {
        static let clips = "appclips"
        static let links = "applinks"
        static let details = "details"
        static let defaults = "defaults"
    }

    /// Adds Apple's defaults for a pattern: case counts, and the text is percent-encoded.
    private static func withDefaults(_ detail: JSONValue) -> JSONValue {
        guard var object = detail.objectValue else { return detail }
        object[Keys.defaults] = ["caseSensitive": true, "percentEncoded": true]
        return .object(object)
    }

    // MARK: - Shapes

    /// Source: Apple, "applinks", "applinks.Details", "webcredentials" and "activitycontinuation".
    private static func check(_ json: JSONObject) throws(JSONFieldError) {
        guard json[Keys.clips] == nil else {
            throw .invalid(
                path: Keys.clips, reason: "is written by Doorstep from the registered clips")
        }
        for key in ["webcredentials", "activitycontinuation"] {
            guard let service = try object(json[key], key) else { continue }
            try ids(service["apps"], JSONPath.member("apps", of: key))
        }
        guard let links = try object(json[Keys.links], Keys.links) else { return }
        _ = try object(links[Keys.defaults], JSONPath.member(Keys.defaults, of: Keys.links))
        let variables = JSONPath.member("substitutionVariables", of: Keys.links)
        for (name, values) in try object(links["substitutionVariables"], variables) ?? [:] {
            try texts(values, JSONPath.member(name, of: variables))
        }
        let path = JSONPath.member(Keys.details, of: Keys.links)
        for (index, detail) in (try array(links[Keys.details], path) ?? []).enumerated() {
            try check(detail: detail, JSONPath.element(index, of: path))
        }
    }

    private static func check(detail: JSONValue, _ path: String) throws(JSONFieldError) {
        guard let detail = detail.objectValue else { throw .wrongType(path: path, expected: "an object") }
        guard detail["appIDs"] != nil || detail["appID"] != nil else {
            throw .missing(path: JSONPath.member("appIDs", of: path))
        }
        try ids(detail["appIDs"], JSONPath.member("appIDs", of: path))
        if let id = detail["appID"] { try check(id: id, JSONPath.member("appID", of: path)) }
        _ = try object(detail[Keys.defaults], JSONPath.member(Keys.defaults, of: path))
        if let paths = detail["paths"] { try texts(paths, JSONPath.member("paths", of: path)) }
        let components = JSONPath.member("components", of: path)
        for (index, component) in (try array(detail["components"], components) ?? []).enumerated()
        where component.objectValue == nil {
            throw .wrongType(path: JSONPath.element(index, of: components), expected: "an object")
        }
    }

    private static func ids(_ value: JSONValue?, _ path: String) throws(JSONFieldError) {
        for (index, id) in (try array(value, path) ?? []).enumerated() {
            try check(id: id, JSONPath.element(index, of: path))
        }
    }

    private static func check(id: JSONValue, _ path: String) throws(JSONFieldError) {
        guard let text = id.stringValue else { throw .wrongType(path: path, expected: "a string") }
        guard (try? AppID(text)) != nil else {
            throw .invalid(path: path, reason: "must be an App ID such as ABCDE12345.com.example.App")
        }
    }

    private static func texts(_ value: JSONValue, _ path: String) throws(JSONFieldError) {
        for (index, text) in (try array(value, path) ?? []).enumerated() where text.stringValue == nil {
            throw .wrongType(path: JSONPath.element(index, of: path), expected: "a string")
        }
    }

    private static func object(_ value: JSONValue?, _ path: String) throws(JSONFieldError) -> JSONObject? {
        guard let value else { return nil }
        guard let object = value.objectValue else { throw .wrongType(path: path, expected: "an object") }
        return object
    }

    private static func array(_ value: JSONValue?, _ path: String) throws(JSONFieldError) -> [JSONValue]? {
        guard let value else { return nil }
        guard let array = value.arrayValue else { throw .wrongType(path: path, expected: "an array") }
        return array
    }

    /// Each App ID of `applinks.details`, with its path.
    private static func eachLinkedID(
        _ json: JSONObject, _ body: (String, String) throws(JSONFieldError) -> Void
    ) throws(JSONFieldError) {
        let details = JSONPath.member(Keys.details, of: Keys.links)
        for (index, detail) in (json[Keys.links]?.objectValue?[Keys.details]?.arrayValue ?? []).enumerated() {
            let path = JSONPath.element(index, of: details)
            for (number, id) in (detail.objectValue?["appIDs"]?.arrayValue ?? []).enumerated() {
                let ids = JSONPath.member("appIDs", of: path)
                if let id = id.stringValue { try body(id, JSONPath.element(number, of: ids)) }
            }
            if let id = detail.objectValue?["appID"]?.stringValue {
                try body(id, JSONPath.member("appID", of: path))
            }
        }
    }
}

extension JSONValue {
    fileprivate var hasNUL: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains(where: \.hasNUL)
        case .object(let object): object.contains { $0.key.utf8.contains(0) || $0.value.hasNUL }
        }
    }
}

/// Why something cannot be kept with a domain.
public enum AssociationContentError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidJSON(JSONError)
    /// Its size in bytes.
    case tooLarge(Int)
    case nulCharacter
    /// The refused field, by its path, such as `applinks.details[0].appIDs`.
    case contradiction(JSONFieldError)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .invalidJSON: "invalid_json"
        case .tooLarge: "content_too_large"
        case .nulCharacter: "nul_character"
        case .contradiction: "contradiction"
        }
    }

    public var description: String {
        switch self {
        case .invalidJSON(let error): "the content is not JSON: \(error)"
        case .tooLarge(let size):
            "the content has \(size) bytes; at most \(AssociationContent.maximumSize) are allowed"
        case .nulCharacter: "the content contains a NUL character"
        case .contradiction(let error):
            error.path.isEmpty ? "the content \(error.reason)" : "\(error.path) \(error.reason)"
        }
    }
}
