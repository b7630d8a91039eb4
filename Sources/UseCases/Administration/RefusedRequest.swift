public import Formats
public import Foundation
public import Tenancy

/// A refused or failed request of a tenant's key, without its URL, body, address and coordinate.
public struct RefusedRequest: Sendable, Hashable {
    /// A UUID of version 7. Later requests have greater ones.
    public let id: UUID
    public let at: Date
    /// The ID in the response and in the server's log. A client can choose it, so several requests can have the same.
    public let requestID: String
    /// The method, and the path with its parameters in braces.
    public let endpoint: String
    /// 400 or greater.
    public let status: Int
    /// The code of the problem.
    public let code: String
    public let key: KeyID

    public init(
        id: UUID, at: Date, requestID: String, endpoint: String, status: Int, code: String, key: KeyID
    ) {
        self.id = id
        self.at = at
        self.requestID = requestID
        self.endpoint = endpoint
        self.status = status
        self.code = code
        self.key = key
    }

    public var json: JSONObject {
        [
            "at": JSONValue(at), "requestID": .string(requestID), "endpoint": .string(endpoint),
            "status": JSONValue(status), "code": .string(code), "key": .string("\(key)"),
        ]
    }
}

/// Selects some of a tenant's refused requests. A condition that is nil selects all.
public struct RefusedRequestSelection: Sendable, Hashable {
    public var requestID: String?
    public var status: Int?
    public var code: String?
    public var key: KeyID?

    public init(requestID: String? = nil, status: Int? = nil, code: String? = nil, key: KeyID? = nil) {
        self.requestID = requestID
        self.status = status
        self.code = code
        self.key = key
    }

    public func selects(_ request: RefusedRequest) -> Bool {
        (requestID ?? request.requestID) == request.requestID && (status ?? request.status) == request.status
            && (code ?? request.code) == request.code && (key ?? request.key) == request.key
    }
}

/// Records refused and failed requests. Never waits. Safe to use from many threads.
public protocol RefusedRequestRecorder: Sendable {
    func record(_ request: RefusedRequest, of tenant: TenantID)
}
