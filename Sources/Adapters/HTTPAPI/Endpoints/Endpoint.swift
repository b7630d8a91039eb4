import Cards
import HTTPServer
import HTTPTypes
import Invocation
import Tenancy

/// A method of a path, with its access and its handler.
///
/// One list (``APIServer/endpoints(_:_:_:)``) declares all endpoints. Responses, 404 and 405, the metrics and the OpenAPI document
/// follow from this list.
struct Endpoint: Sendable {
    let method: HTTPRequest.Method
    /// The path, with its parameters in braces as in the OpenAPI document.
    let path: String
    var handler: Handler
    /// The body's media types; empty if the endpoint takes no body.
    let bodyTypes: [BodyType]
    /// Whether the body is optional. A missing body counts as an empty object, with any content type.
    let isBodyOptional: Bool
    let idempotency: Idempotency
    /// The factor of the client's rate limit, for endpoints that need no key.
    let limitFactor: Int
    /// Whether responses from memory can be too long to be compressed on an event loop.
    let hasLongResponses: Bool
    /// The declared problems. ``problems`` adds the problems that follow from the endpoint's kind.
    let ownProblems: [ProblemType]
    /// Verifies a signed request with the database, before a memory handler gets it. Nil if the endpoint accepts no signatures.
    let verifySignature: SignatureCheck?

    typealias SignatureCheck =
        @Sendable (AdmittedRequest, HTTPRequest.Method, _ body: [UInt8]) async throws -> AdmittedRequest

    /// How requests with an `Idempotency-Key` are handled.
    enum Idempotency {
        /// The field is refused, because the endpoint creates nothing, or repetitions are harmless.
        case refused
        /// The first response is stored, and repeated.
        case storedResponse
        /// The handler recognizes repetitions itself.
        case ofHandler
    }

    /// The function that responds. It throws a ``Problem`` for a refusal.
    enum Handler: Sendable {
        /// Responds from memory, without a key.
        case open(@Sendable (APIRequest) throws(Problem) -> APIResponse)
        /// Responds without a key. Waits for the database, as ``stored(_:_:)`` does.
        case openStored(@Sendable (APIRequest) async throws -> APIResponse)
        /// Responds to keys with the scope, from memory, without waiting. The request's table has only the key's locations.
        case memory(Scope, @Sendable (AdmittedRequest) throws(Problem) -> APIResponse)
        /// Responds to keys with the scope, but not to restricted keys. Waits for the database, and throws `StoreUnavailable` if
        /// it does not respond.
        case stored(Scope, @Sendable (AdmittedRequest) async throws -> APIResponse)
        /// As ``stored(_:_:)``, with a long body. The handler checks the request before the body arrives, and returns a function
        /// that takes the body. One upload per tenant and ``Upload/maximumAtOnce`` per server run at once.
        case streamed(Scope, @Sendable (AdmittedRequest) throws(Problem) -> BodyHandler)
        /// As ``stored(_:_:)``, but also for restricted keys. The handler receives the key's locations; nil means all.
        case storedWithin(
            Scope, @Sendable (AdmittedRequest, Set<LocationIdentifier>?) async throws -> APIResponse)
        /// Responds to any secret key, with any scopes and locations. Waits for the database.
        case anySecretKey(@Sendable (AdmittedRequest) async throws -> APIResponse)
    }

    /// The function that takes a long body after it has arrived.
    typealias BodyHandler = @Sendable (LongBody) async throws -> APIResponse

    /// Whether restricted keys may use this endpoint. True if the handler receives the key's locations.
    var admitsRestrictedKeys: Bool {
        switch handler {
        case .open, .openStored, .memory, .storedWithin, .anySecretKey: true
        case .stored, .streamed: false
        }
    }

    /// Whether publishable keys, and therefore pages in browsers (CORS), may use this endpoint.
    var admitsPublishableKeys: Bool {
        switch handler {
        case .memory(let scope, _), .stored(let scope, _), .streamed(let scope, _),
            .storedWithin(let scope, _):
            KeyKind.publishable.scopes.contains(scope)
        case .open, .openStored, .anySecretKey: false
        }
    }

    init(
        _ method: HTTPRequest.Method, _ path: String, _ handler: Handler, taking types: [BodyType]? = nil,
        isBodyOptional: Bool = false, idempotency: Idempotency = .refused, limitFactor: Int = 1,
        hasLongResponses: Bool = false, verifyingSignatureBy verifySignature: SignatureCheck? = nil,
        problems: [ProblemType] = []
    ) {
        self.isBodyOptional = isBodyOptional
        self.idempotency = idempotency
        self.limitFactor = limitFactor
        self.hasLongResponses = hasLongResponses
        ownProblems = problems
        if idempotency == .storedResponse {
            guard case .stored = handler else { preconditionFailure("\(path) cannot store responses") }
        }
        self.verifySignature = verifySignature
        self.method = method
        self.path = path
        self.handler = handler
        if let types {
            bodyTypes = types
            return
        }
        bodyTypes =
            switch (handler, method) {
            case (.streamed, _): [.csv, .jsonLines]
            case (_, .post), (_, .put): [.json]
            case (_, .patch): [.mergePatch, .json]
            default: []
            }
    }

    /// Whether the endpoint takes a JSON body, which is read completely before the handler runs.
    var takesBody: Bool {
        if case .streamed = handler { false } else { !bodyTypes.isEmpty }
    }

    /// The most bytes of a JSON body: sixteen times the largest payload that APNs accepts.
    static let maximumBodyLength = 65_536

    /// The maximum length of a body that is read on an event loop, in bytes: four times a usual body. A task reads longer bodies,
    /// which would delay other requests on the event loop. [ours]
    static let maximumBodyLengthAtOnce = 2_048
}

extension PathTree<Endpoint> {
    init(_ endpoints: [Endpoint]) {
        self.init(endpoints, path: \.path)
    }
}

extension PathTree<Endpoint>.Match {
    /// The path with its parameters in braces.
    var path: String { elements[0].path }

    var methods: [HTTPRequest.Method] {
        elements.flatMap { $0.method == .get ? [.get, .head] : [$0.method] }
    }

    /// The endpoint of a method; nil if the path does not have the method. The endpoint of GET also responds to HEAD.
    func endpoint(for method: HTTPRequest.Method) -> Endpoint? {
        let method = method == .head ? .get : method
        return elements.first { $0.method == method }
    }
}

/// A media type.
enum BodyType {
    case json
    /// A merge patch (RFC 7396). `application/json` is read in the same way.
    case mergePatch
    /// CSV (RFC 4180).
    case csv
    /// A JSON text in each line.
    case jsonLines
    case png
    case jpeg

    /// The media type in lower case.
    var name: StaticString {
        switch self {
        case .json: "application/json"
        case .mergePatch: "application/merge-patch+json"
        case .csv: "text/csv"
        case .jsonLines: "application/x-ndjson"
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        }
    }

    /// The most bytes of a body.
    var maximumLength: Int {
        switch self {
        case .json, .mergePatch: Endpoint.maximumBodyLength
        case .csv, .jsonLines: Upload.maximumLength
        case .png, .jpeg: HeaderImage.maximumByteCount
        }
    }
}
