public import Formats

/// The state of a site's association file in Apple's cache, from which devices get it.
///
/// Source: App Store Connect API 4.4.1, `appClipDomainCacheStatus` of a build's bundle. [Apple]
public struct AssociatedDomain: Sendable, Hashable {
    public let host: String
    public let isValid: Bool
    /// The reason if Apple's cache has no valid file, such as `CANNOT_REACH_AASA_FILE`.
    public let errorCode: String?
    /// As Apple writes it.
    public let updatedAt: String?

    public init(host: String, isValid: Bool, errorCode: String?, updatedAt: String?) {
        self.host = host
        self.isValid = isValid
        self.errorCode = errorCode
        self.updatedAt = updatedAt
    }

    public var json: JSONObject {
        [
            "domain": .string(host), "isValid": .bool(isValid),
            "errorCode": errorCode.map(JSONValue.string) ?? .null,
            "updatedAt": updatedAt.map(JSONValue.string) ?? .null,
        ]
    }

    /// Reads what ``json`` writes; nil for anything else.
    init?(json: JSONValue) {
        guard let members = json.objectValue, let host = members["domain"]?.stringValue,
            let isValid = members["isValid"]?.boolValue
        else { return nil }
        self.init(
            host: host, isValid: isValid, errorCode: members["errorCode"]?.stringValue,
            updatedAt: members["updatedAt"]?.stringValue)
    }
}
