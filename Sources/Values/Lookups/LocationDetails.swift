public import Formats

/// The details that a location shows to people, such as its telephone number: texts by name.
public struct LocationDetails: Sendable, Hashable {
    /// The maximum number of bytes of ``json``.
    public static let maximumLength = 4_096

    /// A JSON object in UTF-8, as ``JSONValue/serialized()`` writes it; empty if there are no details.
    public let json: [UInt8]

    public static let none = LocationDetails(json: [])

    private init(json: [UInt8]) {
        self.json = json
    }

    /// - Parameter texts: No name or text may be empty or contain NUL, which PostgreSQL's `jsonb` does not
    ///   support.
    public init(_ texts: JSONObject) throws(LocationDetailsError) {
        for (name, value) in texts {
            guard let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0), !name.isEmpty,
                !name.utf8.contains(0)
            else { throw .notTexts }
        }
        let json = texts.isEmpty ? [] : JSONValue.object(texts).serialized()
        guard json.count <= Self.maximumLength else { throw .tooLong }
        self.init(json: json)
    }

    public var isEmpty: Bool { json.isEmpty }

    public var texts: JSONObject {
        // Serialized from texts, so parsing it does not fail.
        isEmpty ? [:] : (try? JSONValue(parsing: json))?.objectValue ?? [:]
    }
}

extension LocationDetails {
    /// Nil if the bytes are not valid details.
    init?(stored bytes: Span<UInt8>) {
        let value = bytes.withUnsafeBufferPointer { try? JSONValue(parsing: $0) }
        guard let texts = value?.objectValue, let details = try? LocationDetails(texts) else { return nil }
        self = details
    }

    /// Copies ``json`` of an earlier value.
    init(copying json: Span<UInt8>) {
        self.init(json: json.isEmpty ? [] : Array(copying: json))
    }
}

/// The reason why a JSON object is not valid as details.
public enum LocationDetailsError: Error, Sendable, Hashable, CustomStringConvertible {
    case notTexts
    case tooLong

    public var description: String {
        switch self {
        case .notTexts:
            "details are an object of texts by their names, none of them empty or with a NUL character"
        case .tooLong: "details are at most \(LocationDetails.maximumLength) bytes as JSON"
        }
    }
}
