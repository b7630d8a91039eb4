public import Administration
public import Formats
import Foundation
import NIOHTTP1
public import Tenancy

/// A tenant's API: at a server over HTTP, or in this process as the operator of a database.
///
/// A refusal is a ``ServerError``. Safe to use from many tasks.
public struct APIConnection: Sendable {
    private let transport: any APITransport

    /// Longer than a server waits for its own lookups to know of a change.
    static let timeout = Duration.seconds(60)
    /// The size of a page of a list.
    private static let pageLength = 1_000

    public init(_ transport: any APITransport) {
        self.transport = transport
    }

    /// Lends a server's API. A key authenticates the requests and selects the tenant; no redirect is followed.
    /// - Parameter authorities: a PEM file with certificates to trust instead of the system's.
    /// - Throws: ``ServerError/invalidKey``, and the closure's errors.
    public static func with<Result: Sendable>(
        _ url: ServerURL, key: String, authorities: String? = nil,
        _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        try await HTTPTransport.with(url, key: key, authorities: authorities) {
            try await body(APIConnection($0))
        }
    }

    /// All of the tenant's items, a page at a time. Changes that others make meanwhile may be missing.
    public func catalogue(of tenant: Tenant) -> any CatalogueReader { HTTPCatalogueReader(self, tenant) }

    /// The slug of the key's tenant; any secret key may read it.
    public func tenantSlug() async throws -> TenantSlug {
        try await ask(.GET, "/v1/key").reading { fields in
            var tenant = try fields.requiredObject("tenant")
            return try TenantSlug(try tenant.requiredString("slug"))
        }
    }

    /// The key's tenant; requires the scope `read`.
    public func tenant() async throws -> Tenant {
        try await ask(.GET, "/v1/tenant").reading { try Tenant(&$0) }
    }

    /// Changes the tenant by a merge patch (RFC 7396).
    public func changeTenant(_ patch: JSONObject) async throws -> Tenant {
        let reply = try await ask(.PATCH, "/v1/tenant", body: patch)
        return reply.json["visible"] == .bool(false)
            ? try await tenant() : try reply.reading { try Tenant(&$0) }
    }

    /// All of a list that comes in one piece.
    public func data(_ path: String, _ query: [(String, String)]) async throws -> [JSONObject] {
        try await ask(.GET, path, query).reading { try $0.requiredArray("data") }.compactMap(\.objectValue)
    }

    /// Lists what there is at a path, page by page.
    /// - Parameter after: the name of the item that the list begins after.
    public func list(
        _ path: String, after: String? = nil, limit: Int = .max, where filter: [(String, String)] = []
    ) async throws -> [JSONObject] {
        var items: [JSONObject] = []
        try await eachPage(path, after: after, limit: limit, where: filter) { items += $0 }
        return items
    }

    /// Reads a list page by page: one page is in memory.
    public func eachPage(
        _ path: String, after: String? = nil, limit: Int = .max, where filter: [(String, String)] = [],
        _ body: ([JSONObject]) throws -> Void
    ) async throws {
        var count = 0
        var cursor = after.map(PageCursor.text)
        repeat {
            var query = [("limit", "\(min(limit - count, Self.pageLength))")] + filter
            if let cursor { query.append(("after", cursor)) }
            let reply = try await ask(.GET, path, query)
            let page = try reply.reading { try $0.requiredArray("data") }
            try body(
                page.map { value in
                    guard let members = value.objectValue else {
                        throw ServerError.unexpected(status: reply.status)
                    }
                    return members
                })
            count += page.count
            // A page may end before its limit, and a page of a search may be empty.
            let next = reply.json["next"]?.stringValue
            cursor = next == cursor ? nil : next
        } while cursor != nil && count < limit
    }

    /// Sends a request whose response is JSON.
    public func read(_ path: String, _ query: [(String, String)] = []) async throws -> JSONObject {
        try await ask(.GET, path, query).json
    }

    /// Sends a request whose response is not JSON.
    /// - Parameter limit: how many there may be.
    func bytes(_ path: String, limit: Int) async throws -> [UInt8] {
        let response = try await transport.send(
            APICall(.GET, path, query: "", timeout: Self.timeout, responseLimit: limit))
        guard (200..<300).contains(response.status) else {
            if case .object(let members) = try? JSONValue(parsing: response.body),
                let problem = ServerProblem(members)
            {
                throw ServerError.refused(problem)
            }
            throw ServerError.unexpected(status: response.status)
        }
        guard !response.isCutOff else { throw ServerError.unexpected(status: response.status) }
        return response.body
    }

    /// Makes a request with a JSON body.
    /// - Parameter idempotencyKey: Requests with the same key take effect once.
    /// - Returns: The body of the response; empty if it has none.
    public func post(
        _ path: String, _ body: JSONObject, idempotencyKey: String? = nil
    ) async throws -> JSONObject {
        let fields = idempotencyKey.map { [("Idempotency-Key", $0)] } ?? []
        return try await ask(.POST, path, fields: fields, body: body).json
    }

    /// Changes what there is at a path by a merge patch (RFC 7396).
    public func patch(_ path: String, _ patch: JSONObject) async throws -> JSONObject {
        try await ask(.PATCH, path, body: patch).json
    }

    /// Deletes what there is at a path.
    public func delete(_ path: String) async throws { _ = try await ask(.DELETE, path) }

    func ask(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String)] = [],
        fields: [(String, String)] = [], body: JSONObject? = nil, problems: Set<String> = []
    ) async throws -> Reply {
        let type = method == .PATCH ? "application/merge-patch+json" : "application/json"
        return try await ask(
            method, path, query, fields: fields,
            content: body.map { (type, .bytes(JSONValue.object($0).serialized())) },
            within: Self.timeout, problems: problems)
    }

    /// Asks for something.
    /// - Parameters:
    ///   - content: the body and its type.
    ///   - problems: Codes of problems that are returned; others are thrown.
    func ask(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String)], fields: [(String, String)] = [],
        content: (type: String, body: APICall.Body)?, within timeout: Duration, problems: Set<String>
    ) async throws -> Reply {
        let response = try await transport.send(
            APICall(
                method, path, query: Self.text(of: query), fields: fields, content: content, timeout: timeout)
        )
        var members: JSONObject = [:]
        if !response.body.isEmpty {
            guard !response.isCutOff, case .object(let object) = try? JSONValue(parsing: response.body) else {
                throw ServerError.unexpected(status: response.status)
            }
            members = object
        }
        if (200..<300).contains(response.status) {
            return Reply(status: response.status, entityTag: response.entityTag, json: members, problem: nil)
        }
        guard let problem = ServerProblem(members) else {
            throw ServerError.unexpected(status: response.status)
        }
        guard problems.contains(problem.code) else { throw ServerError.refused(problem) }
        return Reply(status: response.status, entityTag: nil, json: members, problem: problem)
    }

    private static func text(of query: [(String, String)]) -> String {
        guard !query.isEmpty else { return "" }
        // A plus would be read as a space.
        return query.map {
            "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumericASCII) ?? "")"
        }.joined(separator: "&")
    }

    /// The server's response.
    struct Reply: Sendable {
        let status: Int
        let entityTag: String?
        let json: JSONObject
        /// The problem, if the caller listed its code; others are thrown.
        let problem: ServerProblem?

        /// Reads the response's members.
        /// - Throws: ``ServerError/unexpected(status:)`` for invalid members.
        func reading<Result>(_ read: (inout JSONObjectReader) throws -> Result) throws(ServerError) -> Result
        {
            var fields = JSONObjectReader(json.withoutNulls)
            do {
                return try read(&fields)
            } catch {
                throw .unexpected(status: status)
            }
        }
    }
}

extension CharacterSet {
    fileprivate static let alphanumericASCII = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
}
