public import JSON

/// What somebody's association file says, as far as App Clips go; whoever wrote it, and however.
public struct AssociationFile: Sendable, Hashable {
    /// The IDs under `appclips`; nil when there is no such object, or no list of texts in it.
    public let appClips: [String]?
    /// The IDs under `applinks`, each once.
    public let links: [String]

    /// - Throws: `AssociationError` for what is no JSON object.
    public init(parsing bytes: some Collection<UInt8>) throws(AssociationError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw .invalidJSON(error)
        }
        guard let object = value.objectValue else { throw .notAnObject }
        appClips = object["appclips"]?.objectValue?["apps"].flatMap(Self.texts)
        links = Self.linked(object["applinks"]?.objectValue?["details"])
    }

    /// `details` is a list of objects with `appIDs` or `appID`; other forms are not read.
    private static func linked(_ details: JSONValue?) -> [String] {
        var known: Set<String> = []
        var all: [String] = []
        for detail in details?.arrayValue ?? [] {
            guard let detail = detail.objectValue else { continue }
            all += detail["appIDs"].flatMap(texts) ?? []
            all += detail["appID"]?.stringValue.map { [$0] } ?? []
        }
        return all.filter { known.insert($0).inserted }
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
        case .invalidJSON(let error): "the file is no JSON: \(error)"
        case .notAnObject: "the file is no JSON object"
        }
    }
}
