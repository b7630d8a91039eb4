import Administration
import Formats
import Foundation
import HTTPTypes
import Tenancy

/// The endpoints that manage one kind of item: the list, and each item by its key.
///
/// The store locks the item before the endpoint compares it with the request, so that no concurrent change is lost.
struct CatalogueEndpoints<Item: Resource>: Sendable {
    /// The parameter of an item's path.
    private let name: String
    private let store: any CatalogueStore<Item>
    private let namesItself: Bool
    private let unknown: ProblemType
    private let writing: [ProblemType]
    private let hasDependents: Bool

    /// - Parameters:
    ///   - namesItself: Whether the item contains its key, so that POST to the list creates it.
    ///   - unknown: The problem of a key without an item.
    ///   - writing: The further problems of requests that create or change an item.
    ///   - hasDependents: Whether other items can refer to an item, which then cannot be deleted alone.
    init(
        _ name: String, _ store: any CatalogueStore<Item>, namesItself: Bool = false, unknown: ProblemType,
        writing: [ProblemType] = [], hasDependents: Bool = false
    ) {
        self.name = name
        self.store = store
        self.namesItself = namesItself
        self.unknown = unknown
        self.writing = writing
        self.hasDependents = hasDependents
    }

    /// The path of one item.
    var itemPath: String { "\(Item.path)/{\(name)}" }

    /// The endpoints that do not depend on how items are written.
    var commonEndpoints: [Endpoint] {
        [
            Endpoint(.get, Item.path, .stored(.read, list), problems: .parameters),
            Endpoint(.get, itemPath, .stored(.read, show), problems: reading),
            Endpoint(
                .delete, itemPath, .stored(.manage, delete),
                problems: reading + [.preconditionFailed] + (hasDependents ? [.inUse] : [])),
        ]
    }

    /// The problems of a request for an item.
    var reading: [ProblemType] { .parameters + [unknown, .notFound] }

    /// The problems of a request that replaces an item, or creates it.
    var replacing: [ProblemType] {
        .parameters + [.notFound, .preconditionFailed, .quotaExceeded] + writing
    }

    // MARK: Reading

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"] + Item.filters.keys)
        let limit = try parameters.pageLength()
        let after = try parameters.cursor { Item.key(named: $0) }
        var filter: [String: String] = [:]
        for (name, written) in Item.filters {
            guard let text = parameters.optional(name) else { continue }
            guard let value = written(text) else {
                throw Problem.field(name, code: "invalid_parameter", "no item can have this value")
            }
            filter[name] = value
        }
        return try await APIResponse.page(
            after: after, limit: limit, \.json, place: \.key, name: Item.name(of:)
        ) { try await store.items(of: request.tenant, after: $0, limit: $1, where: filter) }
    }

    private func show(_ request: AdmittedRequest) async throws -> APIResponse {
        let key = try self.key(of: request)
        guard let item = try await store.item(key, of: request.tenant) else {
            throw Problem(.notFound, Item.unknown(key))
        }
        return APIResponse(reading: item, for: request)
    }

    // MARK: Writing

    fileprivate func put(_ request: AdmittedRequest) async throws -> APIResponse
    where Item: WritableResource {
        let isForced = try isForced(request)
        let key = try self.key(of: request, hasParameters: true)
        return try await Problem.managing {
            let item = try Item.read(request.body, as: key)
            return try await change(key, request, force: isForced) { current in
                try request.checkConditions(on: current)
                return current.map { item.keeping($0, where: request.body) } ?? item
            }
        }
    }

    fileprivate func patch(_ request: AdmittedRequest) async throws -> APIResponse
    where Item: WritableResource {
        let isForced = try isForced(request)
        let key = try self.key(of: request, hasParameters: true)
        return try await Problem.managing {
            try await change(key, request, force: isForced) { current in
                guard let current else { throw Item.unknown(key) }
                try request.checkConditions(on: current)
                return try current.patched(by: request.body)
            }
        }
    }

    fileprivate func create(_ request: AdmittedRequest) async throws -> APIResponse
    where Item: WritableResource {
        try request.refuseParameters()
        return try await Problem.managing {
            let item = try Item.read(request.body)
            return try await change(item.key, request) { current in
                guard current == nil || current == item else {
                    throw Problem(
                        .conflict, "exists", "a different item with this name exists",
                        members: ["id": .string(Item.name(of: item.key))])
                }
                return item
            }
        }
    }

    /// Changes an item by a closure.
    func change(
        _ key: Item.Key, _ request: AdmittedRequest, force: Bool = false,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> APIResponse {
        let change = try await store.change(
            key, of: request.tenant, by: request.actor.name, force: force, make)
        guard change.isVisible else { return .notVisible }
        var response = APIResponse(change.before == nil ? .created : .ok, showing: change.after)
        if change.before == nil { response.headers[.location] = Item.path(of: key) }
        return response
    }

    private func delete(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["cascade"])
        let cascade = try parameters.flag("cascade")
        let key = try self.key(of: request, hasParameters: true)
        return try await Problem.managing {
            let deletion = try await store.delete(
                key, of: request.tenant, by: request.actor.name, cascade: cascade
            ) { try request.checkConditions(on: $0) }
            guard request.request.fields.prefer?.utf8.span.prefersRepresentation == true else {
                return deletion.isVisible ? APIResponse(.noContent) : .notVisible
            }
            var response = APIResponse(
                deletion.isVisible ? .ok : .accepted,
                uncached: JSONValue.object(deletion.json).serialized())
            response.headers[.preferenceApplied] = "return=representation"
            return response
        }
    }

    /// Whether the request forces a change that a check advises against.
    private func isForced(_ request: AdmittedRequest) throws(Problem) -> Bool {
        let names = Item.forcing.map { [$0] } ?? []
        let parameters = try request.queryParameters(named: names)
        return try names.first.map { name throws(Problem) in try parameters.flag(name) } ?? false
    }

    // MARK: Keys

    /// The key in a request's path.
    func key(of request: AdmittedRequest, hasParameters: Bool = false) throws(Problem) -> Item.Key {
        if !hasParameters { try request.refuseParameters() }
        guard let text = request.parameter(Substring(name)).removingPercentEncoding,
            let key = Item.key(named: text)
        else { throw Problem(.notFound, "not_found", "no item can have this name") }
        return key
    }
}

extension CatalogueEndpoints where Item: WritableResource {
    var endpoints: [Endpoint] {
        commonEndpoints + [
            Endpoint(.put, itemPath, .stored(.manage, put), problems: replacing),
            Endpoint(.patch, itemPath, .stored(.manage, patch), problems: replacing + [unknown]),
        ]
            + (namesItself
                ? [
                    Endpoint(
                        .post, Item.path, .stored(.manage, create), idempotency: .storedResponse,
                        problems: .parameters + [.exists, .quotaExceeded] + writing)
                ] : [])
    }
}

extension AdmittedRequest {
    func refuseParameters() throws(Problem) {
        _ = try queryParameters(named: [])
    }

    /// Checks `If-Match` and `If-None-Match` (RFC 9110 §13.1).
    func checkConditions(on current: (some Resource)?) throws(Problem) {
        try checkConditions(onTag: current.map { APIResponse.tag(of: $0) })
    }

    /// - Parameter tag: The entity tag of the current item; nil if there is none.
    func checkConditions(onTag tag: String?) throws(Problem) {
        if let field = request.fields.ifMatch {
            guard let tag, field.utf8.span.hasEntityTag(ofState: tag, weakly: false) else {
                throw .isOtherwise
            }
        }
        if let field = request.fields.ifNoneMatch, let tag, field.utf8.span.hasEntityTag(ofState: tag) {
            throw .isOtherwise
        }
    }
}

extension APIResponse {
    fileprivate static func tag(of item: some Resource) -> String {
        tag(of: JSONValue.object(item.validatedJSON).serialized())
    }

    init(_ status: HTTPResponse.Status, showing item: some Resource) {
        let body = JSONValue.object(item.json).serialized()
        self.init(status, uncached: body)
        headers[.eTag] = Self.tag(of: item)
    }

    /// The item, or 304 if the client has it. An item whose tag does not cover all members is sent each time.
    init(reading item: some Resource, for request: AdmittedRequest) {
        self.init(.ok, showing: item)
        isCompressible = true
        guard let field = request.request.fields.ifNoneMatch,
            field.utf8.span.hasEntityTag(ofState: Self.tag(of: JSONValue.object(item.json).serialized()))
        else { return }
        var unchanged = APIResponse(.notModified)
        unchanged.headers = headers
        if let tag = headers[.eTag], request.request.fields.selectsGzip(for: body?.count ?? 0) {
            unchanged.headers[.eTag] = EntityTag.ofCompressed(tag)
        }
        self = unchanged
    }

    /// 202: the change is stored, but this server's lookups do not use it yet.
    static var notVisible: APIResponse {
        APIResponse(.accepted, uncached: JSONValue.object(["visible": false]).serialized())
    }
}

extension Problem {
    fileprivate static let isOtherwise = Problem(
        .preconditionFailed, "precondition_failed",
        "the item's state does not match If-Match or If-None-Match: read it again")
}
