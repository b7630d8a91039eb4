import Cards
import HTTPServer
import HTTPTypes
import Invocation
import Tenancy

/// One method of one path, who may use it, and what answers it.
///
/// One list (``APIServer/endpoints(_:_:_:)``) declares them. Responses, 404 and 405, the metrics and the OpenAPI document follow
/// from it.
struct Endpoint: Sendable {
    let method: HTTPRequest.Method
    /// With its parameters in braces, as in the OpenAPI document.
    let path: String
    var handler: Handler
    /// What the body can be; empty where there is none.
    let bodyTypes: [BodyType]
    /// Whether the request may come without a body, which then stands for an empty object, whatever its content type.
    let isBodyOptional: Bool
    let idempotency: Idempotency
    /// For an endpoint that needs no key: how many times as often as others a client may ask.
    let limitFactor: Int
    /// The problems of its own: ``problems`` adds those that its kind implies.
    let ownProblems: [ProblemType]
    /// Gives a request that is signed to a handler from memory with what its signature proves, for which the database is
    /// asked; nil for a route that takes no signatures.
    let verifySignature: SignatureCheck?

    typealias SignatureCheck =
        @Sendable (AdmittedRequest, HTTPRequest.Method, _ body: [UInt8]) async throws -> AdmittedRequest

    /// How requests with an `Idempotency-Key` are handled.
    enum Idempotency {
        /// They are refused: the endpoint creates nothing, or a repetition does no harm by itself.
        case refused
        /// The first request's response is stored, and repeated.
        case storedResponse
        /// The handler recognizes repetitions itself.
        case ofHandler
    }

    /// Each throws a ``Problem`` for a refusal.
    enum Handler: Sendable {
        /// For anyone, from memory.
        case open(@Sendable (APIRequest) throws(Problem) -> APIResponse)
        /// For anyone; waits for the database, as ``stored(_:_:)`` does.
        case openStored(@Sendable (APIRequest) async throws -> APIResponse)
        /// For whoever has a key with the scope, from memory, without waiting for anything. A restricted key's table is as
        /// restricted.
        case memory(Scope, @Sendable (AdmittedRequest) throws(Problem) -> APIResponse)
        /// Waits for the database, and throws `StoreUnavailable` where that does not answer. Refuses keys that are restricted to
        /// locations.
        case stored(Scope, @Sendable (AdmittedRequest) async throws -> APIResponse)
        /// As ``stored(_:_:)``, with a long body. The handler checks the request before the body arrives, and returns a function
        /// that takes the body. One upload per tenant and ``Upload/maximumAtOnce`` per server run at once.
        case streamed(Scope, @Sendable (AdmittedRequest) throws(Problem) -> BodyHandler)
        /// As ``stored(_:_:)``, but for restricted keys too: it is told the locations that it may answer for, nil for all.
        case storedWithin(
            Scope, @Sendable (AdmittedRequest, Set<LocationIdentifier>?) async throws -> APIResponse)
        /// For any secret key, whatever its scopes and locations. Waits for the database.
        case anySecretKey(@Sendable (AdmittedRequest) async throws -> APIResponse)
    }

    /// What a long body is given to when it has come.
    typealias BodyHandler = @Sendable (LongBody) async throws -> APIResponse

    /// Whether restricted keys may use this endpoint. True if the handler receives the key's locations.
    var admitsRestrictedKeys: Bool {
        switch handler {
        case .open, .openStored, .memory, .storedWithin, .anySecretKey: true
        case .stored, .streamed: false
        }
    }

    init(
        _ method: HTTPRequest.Method, _ path: String, _ handler: Handler, taking types: [BodyType]? = nil,
        isBodyOptional: Bool = false, idempotency: Idempotency = .refused, limitFactor: Int = 1,
        verifyingSignatureBy verifySignature: SignatureCheck? = nil, problems: [ProblemType] = []
    ) {
        self.isBodyOptional = isBodyOptional
        self.idempotency = idempotency
        self.limitFactor = limitFactor
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

    /// Whether there must be JSON in the body, which is read whole.
    var takesBody: Bool {
        if case .streamed = handler { false } else { !bodyTypes.isEmpty }
    }

    /// The largest body that is read whole, 64 KiB: sixteen times the largest payload APNs takes.
    static let maximumBodyLength = 65_536

    /// The largest body that is read on an event loop, which answers all others meanwhile, in bytes: ten times a usual one. Longer
    /// ones are read by the router. [ours]
    static let maximumBodyLengthAtOnce = 8_192
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

    /// The endpoint of a method; nil if the path does not have the method. The endpoint of GET responds to HEAD too.
    func endpoint(for method: HTTPRequest.Method) -> Endpoint? {
        let method = method == .head ? .get : method
        return elements.first { $0.method == method }
    }
}

/// A media type.
enum BodyType {
    case json
    /// RFC 7396. The same object as `application/json` is read alike.
    case mergePatch
    /// RFC 4180.
    case csv
    /// A JSON text in each line.
    case jsonLines
    case png
    case jpeg

    /// In lower case.
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

    /// How many bytes a body may have.
    var maximumLength: Int {
        switch self {
        case .json, .mergePatch: Endpoint.maximumBodyLength
        case .csv, .jsonLines: Upload.maximumLength
        case .png, .jpeg: HeaderImage.maximumByteCount
        }
    }
}
