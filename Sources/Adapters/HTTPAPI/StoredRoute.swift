import Foundation
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Routing
import Tenancy

/// A route under `/v1` whose answer waits for the database.
struct StoredRoute: Sendable {
    let method: HTTPRequest.Method
    /// With its parameters in braces, as in the OpenAPI document.
    let path: String
    let access: RouteAccess
    /// Throws a ``Problem`` for a refusal, and `NotificationStoreError.unavailable` when the database does not answer.
    let handler: @Sendable (StoredRequest) async throws -> Answer

    init(
        _ method: HTTPRequest.Method, _ path: String, _ scope: Scope,
        _ handler: @escaping @Sendable (StoredRequest) async throws -> Answer
    ) {
        self.method = method
        self.path = path
        access = RouteAccess(scope: scope, takesBody: method == .post || method == .put)
        self.handler = handler
    }
}

/// A request to such a route, once it is admitted and its body is there.
struct StoredRequest: Sendable {
    let caller: KeyHolder
    let client: Client
    let table: TenantTable
    let now: Date
    /// Empty where the route takes no body.
    let body: JSONObject
    /// The one `Idempotency-Key` field, if there is one.
    let idempotencyKey: String?
    /// The URL's query as it came, without the question mark.
    let query: String
    private let parameters: [String: String]

    /// - Throws: A problem when the body is not a JSON object.
    init(
        _ request: Request, _ admission: AnswerService.Admission, parameters: Parameters, body: ByteBuffer,
        at now: Date
    ) throws(Problem) {
        caller = admission.caller
        client = admission.request.client
        table = admission.table
        self.now = now
        self.body = admission.request.access.takesBody ? try JSONObject(body: body) : [:]
        let keys = HTTPField.Name("Idempotency-Key").map { request.headers[values: $0] } ?? []
        guard keys.count < 2 else {
            throw .field(
                "Idempotency-Key", code: "invalid_idempotency_key", "the field comes more than once")
        }
        idempotencyKey = keys.first
        query = request.uri.query ?? ""
        self.parameters = Dictionary(
            uniqueKeysWithValues: parameters.map { (String($0.key), String($0.value)) })
    }

    var tenant: TenantID { caller.tenant }

    /// What stands in the path in the place of a parameter, as it came.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }
}
