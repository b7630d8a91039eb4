import APNsPayload
import Foundation
public import Invocation
public import JSON
public import Tenancy

extension NotificationRequest {
    /// Reads a request to compose a notification: `url`, `aps`, `custom`, `headers` and `launchedAt`.
    public init(_ body: JSONObject) throws(RequestDefect) {
        let members: Members
        let launchedAt: Date?
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            members = try Members(&body)
            launchedAt = try body.optionalDate("launchedAt")
            try body.finish()
        } catch {
            throw .field(error)
        }
        try self.init(members, launchedAt: launchedAt)
    }

    fileprivate init(
        _ members: Members, launchedAt: Date? = nil, isBroadcast: Bool = false
    ) throws(RequestDefect) {
        let url: InvocationURL
        do throws(InvalidURL) {
            url = try InvocationURL(requested: members.url)
        } catch {
            throw .url(error)
        }
        self.init(
            url: url, aps: members.aps, custom: members.custom, headers: members.headers,
            launchedAt: launchedAt, isBroadcast: isBroadcast)
    }

    /// What a notification is and where it leads, whether it is composed or sent.
    fileprivate struct Members {
        let url: String
        let aps: JSONObject
        let custom: JSONObject
        let headers: JSONObject

        init(_ body: inout JSONObjectReader) throws(JSONFieldError) {
            url = try body.requiredString("url")
            aps = try body.requiredMembers("aps")
            custom = try body.optionalMembers("custom") ?? [:]
            headers = try body.optionalMembers("headers") ?? [:]
        }
    }
}

extension NotificationSubmission {
    /// Reads a request to send a notification: `url`, `aps`, `custom`, `headers`, `audience`, `confirmedOnly` and
    /// `environment`.
    /// - Parameter idempotencyKey: As its sender gives it beside the request.
    public init(
        _ body: JSONObject, idempotencyKey: String?, of tenant: TenantID
    ) throws(RequestDefect) {
        let key = try idempotencyKey.map { text throws(RequestDefect) in
            guard let key = IdempotencyKey(text, for: body, of: tenant) else { throw .idempotencyKey }
            return key
        }
        let members: NotificationRequest.Members
        let audience: Audience
        let confirmedOnly: Bool
        let environment: APNsEnvironment?
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            members = try NotificationRequest.Members(&body)
            var object = try body.requiredObject("audience")
            audience = try Audience(&object)
            try object.finish()
            confirmedOnly = try body.optionalBool("confirmedOnly") ?? false
            environment = try body.optionalCase("environment", of: APNsEnvironment.self)
            try body.finish()
        } catch {
            throw .field(error)
        }
        let isBroadcast = if case .channel = audience { true } else { false }
        self.init(
            try NotificationRequest(members, isBroadcast: isBroadcast), to: audience,
            confirmedOnly: confirmedOnly, environment: environment, idempotencyKey: key)
    }
}

/// Why a request cannot be read.
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
