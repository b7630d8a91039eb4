public import Formats

/// Counters since the start.
public struct StoreCounters: Sendable, Hashable {
    /// Requests that reached an operation, by method and path, such as `GET /v1/apps/{id}`.
    public var requests: [String: Int] = [:]
    public var statuses: [Int: Int] = [:]
    /// Errors by their codes.
    public var refusals: [String: Int] = [:]
    /// Well-formed requests to create experiences, by link.
    public var attempts: [String: Int] = [:]
    /// Experiences that were created, by link.
    public var creations: [String: Int] = [:]
    /// Received parts of images.
    public var parts = 0
    /// Requests that were refused because the budget was used up.
    public var overruns = 0
    /// The maximum number of requests of a key in any hour.
    public var mostInAnHour = 0

    public init() {}

    /// The counters by name.
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
