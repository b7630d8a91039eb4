public import Formats

/// The App Clip entries and links of any site's association file.
public struct AssociationFile: Sendable, Hashable {
    /// The IDs under `appclips`; nil if there is no such object, or no list of texts in it.
    public let appClips: [String]?
    /// The IDs under `applinks`, each once.
    public let links: [String]
    /// The IDs of these whose patterns match every URL of the site, each once.
    public let wholeSiteLinks: [String]
    /// The constructs that RFC 8259 leaves open: whether devices read such a file is unknown.
    public let oddities: [JSONValue.Oddity]

    /// - Throws: `AssociationError` if the bytes are no JSON object.
    public init(parsing bytes: some Collection<UInt8>) throws(AssociationError) {
        let reading: JSONValue.LenientReading
        do throws(JSONError) {
            reading = try JSONValue.reading(leniently: bytes)
        } catch {
            throw .invalidJSON(error)
        }
        guard let object = reading.value.objectValue else { throw .notAnObject }
        oddities = reading.oddities
        appClips = object["appclips"]?.objectValue?["apps"].flatMap(Self.texts)
        let details = Self.details(object["applinks"]?.objectValue?["details"])
        links = Self.unique(details.flatMap(\.ids))
        wholeSiteLinks = Self.unique(details.filter { Self.isOfWholeSite($0.detail) }.flatMap(\.ids))
    }

    /// Reads `details`: a list of objects with `appIDs` or `appID`, or an object whose keys are the IDs, as
    /// before iOS 13.
    ///
    /// Source: Apple, "Supporting associated domains" and "Support Universal Links" (archived).
    private static func details(_ details: JSONValue?) -> [(ids: [String], detail: JSONObject)] {
        if let older = details?.objectValue {
            return older.map { ([$0.key], $0.value.objectValue ?? JSONObject()) }
        }
        return (details?.arrayValue ?? []).compactMap(\.objectValue).map { detail in
            (
                (detail["appIDs"].flatMap(texts) ?? []) + (detail["appID"]?.stringValue.map { [$0] } ?? []),
                detail
            )
        }
    }

    private static func isOfWholeSite(_ detail: JSONObject) -> Bool {
        let components = (detail["components"]?.arrayValue ?? []).compactMap(\.objectValue)
        return components.contains { component in
            component["exclude"] != true && component["?"] == nil && component["#"] == nil
                && isOfWholeSite(path: component["/"]?.stringValue ?? "*")
        }
            || (detail["paths"]?.arrayValue ?? []).compactMap(\.stringValue).contains(
                where: isOfWholeSite(path:))
    }

    private static func isOfWholeSite(path: String) -> Bool { path == "*" || path == "/*" }

    private static func unique(_ ids: [String]) -> [String] {
        var known: Set<String> = []
        return ids.filter { known.insert($0).inserted }
    }

    private static func texts(_ value: JSONValue) -> [String]? {
        guard let elements = value.arrayValue else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
    }
}

/// Why bytes are no association file.
public enum AssociationError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidJSON(JSONError)
    case notAnObject

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .invalidJSON: "invalid_json"
        case .notAnObject: "not_an_object"
        }
    }

    public var description: String {
        switch self {
        case .invalidJSON(let error): "the file is not JSON: \(error)"
        case .notAnObject: "the file is not a JSON object"
        }
    }
}
