public import JSON

/// How often things happened since the start.
public struct StoreCounters: Sendable, Hashable {
    /// Requests that got as far as an operation, by method and path, such as `GET /v1/apps/{id}`.
    public var requests: [String: Int] = [:]
    public var statuses: [Int: Int] = [:]
    /// Errors by their codes.
    public var refusals: [String: Int] = [:]
    /// Creations of experiences that were asked for in the right form, by link.
    public var attempts: [String: Int] = [:]
    /// Experiences that were created, by link.
    public var creations: [String: Int] = [:]
    /// Parts of images that came.
    public var parts = 0
    /// Requests refused since the budget was spent.
    public var overruns = 0
    /// The most requests of a key in any hour.
    public var mostInAnHour = 0

    public init() {}

    /// By their names.
    public var json: JSONObject {
        [
            "requests": JSONValue(requests),
            "statuses": JSONValue(
                Dictionary(statuses.map { (String($0.key), $0.value) }) { first, _ in first }),
            "refusals": JSONValue(refusals), "attempts": JSONValue(attempts),
            "creations": JSONValue(creations),
            "parts": JSONValue(parts), "overruns": JSONValue(overruns),
            "mostInAnHour": JSONValue(mostInAnHour),
        ]
    }
}
