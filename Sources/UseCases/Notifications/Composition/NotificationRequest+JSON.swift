import APNsPayload
public import Formats
public import Foundation
public import Invocation
public import Tenancy

extension NotificationRequest {
    /// Reads a request to compose a notification: `url`, `aps`, `custom`, `headers`, and `launchedAt` beside it.
    public static func reading(
        _ body: JSONObject
    ) throws(RequestDefect) -> (request: NotificationRequest, launchedAt: Date?) {
        let (request, launchedAt) = try read(body) { body throws(JSONFieldError) in
            try body.optionalDate("launchedAt")
        }
        return (request, launchedAt)
    }

    /// Reads the notification, its target and the other members of the request.
    fileprivate static func read<Rest>(
        _ body: JSONObject, _ readRest: (inout JSONObjectReader) throws(JSONFieldError) -> Rest
    ) throws(RequestDefect) -> (NotificationRequest, Rest) {
        let (url, aps, custom, headers, rest): (String, JSONObject, JSONObject, JSONObject, Rest)
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            url = try body.requiredString("url")
            aps = try body.requiredMembers("aps")
            custom = try body.optionalMembers("custom") ?? [:]
            headers = try body.optionalMembers("headers") ?? [:]
            rest = try readRest(&body)
            try body.finish()
        } catch {
            throw .field(error)
        }
        do throws(InvalidURL) {
            let url = try InvocationURL(requested: url)
            return (NotificationRequest(url: url, aps: aps, custom: custom, headers: headers), rest)
        } catch {
            throw .url(error)
        }
    }
}

extension NotificationSubmission {
    /// Reads a request to send a notification: `url`, `aps`, `custom`, `headers`, `audience`, `confirmedOnly` and
    /// `environment`.
    /// - Parameters:
    ///   - idempotencyKey: The key that the sender sets in addition to the body.
    ///   - locations: The locations that the sender is restricted to; nil for an unrestricted sender. The idempotency key is valid
    ///     among senders with the same restriction.
    public init(
        _ body: JSONObject, idempotencyKey: String?, of tenant: TenantID,
        within locations: Set<LocationIdentifier>? = nil
    ) throws(RequestDefect) {
        let key = try idempotencyKey.map { text throws(RequestDefect) in
            guard let key = IdempotencyKey(text, for: body, of: tenant, within: locations) else {
                throw .idempotencyKey
            }
            return key
        }
        let (request, rest) = try NotificationRequest.read(body) { body throws(JSONFieldError) in
            var object = try body.requiredObject("audience")
            let audience = try Audience(&object)
            try object.finish()
            return (
                audience: audience, confirmedOnly: try body.optionalBool("confirmedOnly") ?? false,
                environment: try body.optionalCase("environment", of: APNsEnvironment.self)
            )
        }
        self.init(
            request, to: rest.audience, confirmedOnly: rest.confirmedOnly, environment: rest.environment,
            idempotencyKey: key)
    }
}

/// The reason why a request cannot be read.
public enum RequestDefect: Refusal {
    case field(JSONFieldError)
    case url(InvalidURL)
    case idempotencyKey

    public var code: String {
        switch self {
        case .field(let error): error.code
        case .url(let error): error.code
        case .idempotencyKey: "invalid_idempotency_key"
        }
    }

    public var members: JSONObject {
        switch self {
        case .field(let error): error.members
        case .url(let error): error.members
        case .idempotencyKey: ["field": "Idempotency-Key"]
        }
    }

    public var description: String {
        switch self {
        case .field(let error): "\(error)"
        case .url(let error): "\(error)"
        case .idempotencyKey: "the key must be 1 to 255 characters of printable ASCII"
        }
    }
}
