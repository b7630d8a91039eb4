public import Administration
public import Confirmations
import Formats
public import Foundation
import HTTPServer
import HTTPTypes
public import Lookups
import NIOCore
public import Notifications
import Synchronization
public import Tenancy

/// The API's endpoints for one tenant, called as an operator in this process, without a socket.
///
/// The caller has the rights of its database login: no key is required, and no limit applies. Only lookups, confirmations, payloads
/// and notifications read the tenant's index. Errors of a handler that are not refusals, such as PostgreSQL's, are rethrown.
public struct LocalAPI: Sendable {
    private let endpoints: PathTree<Endpoint>
    /// The paths of the endpoints that require the tenant's index.
    private let indexedPaths: Set<String>
    private let holder: KeyHolder
    private let actor: Actor
    private let readTable: @Sendable () async throws -> TenantTable

    /// - Parameters:
    ///   - actor: The actor's name in the audit log.
    ///   - readTable: Reads the tenant's index for each call of an endpoint that requires it.
    public init(
        of tenant: TenantID, by actor: String, _ parts: ManagementParts, _ responses: APIResponses,
        _ notifications: NotificationIntake, readTable: @escaping @Sendable () async throws -> TenantTable
    ) {
        let notifications = NotificationEndpoints(notifications)
        let attestation = AttestationControl(verifier: nil, counters: responses.attestationCounters)
        let indexed =
            LocationEndpoints(responses: responses, attestation: attestation).endpoints
            + [notifications.sendEndpoint]
        indexedPaths = Set(indexed.map { "\($0.method) \($0.path)" })
        endpoints = PathTree<Endpoint>(
            APIServer.managementEndpoints(parts, limits: .none)
                + [notifications.traceEndpoint, notifications.cancelEndpoint] + indexed)
        self.actor = .administrator(actor)
        holder = KeyHolder(
            tenant: tenant, key: KeyID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            kind: .secret, scopes: .all, locations: nil, limits: RequestLimits(), tenantIsSuspended: false)
        self.readTable = readTable
    }

    /// A request's body.
    public enum Body: Sendable {
        case bytes([UInt8])
        case chunks(FileChunks)
    }

    /// An endpoint's response.
    public struct Response: Sendable {
        public let status: Int
        public let entityTag: String?
        /// JSON. A problem has no request ID.
        public let body: [UInt8]
    }

    /// Calls an endpoint.
    /// - Parameters:
    ///   - path: Percent-encoded.
    ///   - query: Percent-encoded, without the question mark.
    public func respond(
        to method: String, _ path: String, query: String, fields: [(name: String, value: String)], body: Body?
    ) async throws -> Response {
        guard let method = HTTPRequest.Method(method) else { return Self.response(.notFound) }
        var header: HTTPFields = [:]
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            header.append(HTTPField(name: name, value: value))
        }
        do {
            let response = try await Problem.managing { [header] in
                try await self.response(method, path, query, header, body)
            }
            return Response(
                status: response.status.code, entityTag: response.headers[.eTag],
                body: response.body.map { Array($0.buffer.readableBytesView) } ?? [])
        } catch let problem as Problem {
            return Self.response(problem)
        } catch let error as QuotaExceeded {
            return Self.response(Problem(error))
        }
    }

    private static func response(_ problem: Problem) -> Response {
        Response(
            status: problem.status.code, entityTag: nil, body: JSONValue.object(problem.json).serialized())
    }

    private func response(
        _ method: HTTPRequest.Method, _ path: String, _ query: String, _ fields: HTTPFields, _ body: Body?
    ) async throws -> APIResponse {
        guard let match = endpoints.match(path[...]), let endpoint = match.endpoint(for: method) else {
            throw Problem.notFound
        }
        let isIndexed = indexedPaths.contains("\(endpoint.method) \(endpoint.path)")
        let table = isIndexed ? try await readTable() : LookupIndex().of(holder.tenant)
        var request = AdmittedRequest(
            APIRequest(
                client: Client(address: Client.Address(nil), isBehindProxy: false), query: query[...],
                parameters: match.parameters(in: endpoint.path), target: path, fields: RequestFields(fields)),
            of: holder, in: table, RequestAllowance(), by: actor, at: Date())
        if endpoint.takesBody { try request.read(body: ByteBuffer(bytes: Self.bytes(of: body))) }
        switch endpoint.handler {
        case .stored(_, let handler): return try await handler(request)
        case .storedWithin(_, let handler): return try await handler(request, nil)
        case .streamed(_, let handler):
            let take = try handler(request)
            switch body {
            case .chunks(let chunks): return try await take(.chunks(chunks))
            case .bytes, nil:
                return try await take(.chunks(FileChunks(source: OneChunk(Self.bytes(of: body)).next)))
            }
        case .memory(_, let handler): return try handler(request)
        case .open, .openStored, .anySecretKey: throw Problem.notFound
        }
    }

    private static func bytes(of body: Body?) -> [UInt8] {
        guard case .bytes(let bytes) = body, !bytes.isEmpty else { return Array("{}".utf8) }
        return bytes
    }
}

/// All bytes as one chunk.
private final class OneChunk: Sendable {
    private let rest: Mutex<[UInt8]?>

    init(_ bytes: [UInt8]) {
        rest = Mutex(bytes)
    }

    func next() -> [UInt8]? {
        rest.withLock { rest in
            defer { rest = nil }
            return rest
        }
    }
}

/// The dependencies of the endpoints that manage a tenant.
public struct ManagementParts: Sendable {
    let catalogue: ManagedCatalogue
    let proveDomain: ProveDomain?
    let webhooks: (any WebhookRegistry)?
    let confirmations: any ConfirmationHistory
    let deliveries: any DeliveryLedger
    let history: any NotificationHistory
    /// Ends waiting requests at shutdown. In this process, it never does.
    var readiness = Readiness()

    /// Looks for the proof of a domain, within a time limit. The actor is the name in the audit log.
    public typealias ProveDomain =
        @Sendable (DomainName, TenantID, _ actor: String, Date) async throws -> DomainVerification.Outcome

    /// - Parameters:
    ///   - proveDomain: Nil for an API without the endpoint that looks for proofs.
    ///   - webhooks: Nil if webhooks' secrets cannot be sealed.
    public init(
        catalogue: ManagedCatalogue, webhooks: (any WebhookRegistry)?,
        confirmations: any ConfirmationHistory, deliveries: any DeliveryLedger,
        history: any NotificationHistory, proveDomain: ProveDomain? = nil
    ) {
        self.catalogue = catalogue
        self.webhooks = webhooks
        self.confirmations = confirmations
        self.deliveries = deliveries
        self.history = history
        self.proveDomain = proveDomain
    }
}

extension APIServer.Dependencies {
    /// The dependencies of the endpoints by which keys manage a tenant.
    var management: ManagementParts {
        var parts = ManagementParts(
            catalogue: catalogue, webhooks: webhooks, confirmations: confirmations, deliveries: deliveries,
            history: history, proveDomain: proveDomain)
        parts.readiness = readiness
        return parts
    }
}
