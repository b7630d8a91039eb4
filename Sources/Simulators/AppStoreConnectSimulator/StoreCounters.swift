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
        func counts(_ counts: [String: Int]) -> JSONValue {
            .object(counts.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = JSONValue($1.value) })
        }
        return [
            "requests": counts(requests),
            "statuses": counts(
                Dictionary(statuses.map { (String($0.key), $0.value) }) { first, _ in first }),
            "refusals": counts(refusals), "attempts": counts(attempts), "creations": counts(creations),
            "parts": JSONValue(parts), "overruns": JSONValue(overruns),
            "mostInAnHour": JSONValue(mostInAnHour),
        ]
    }
}
