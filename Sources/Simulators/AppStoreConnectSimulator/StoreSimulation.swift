import Formats
import Foundation

/// The logic of the simulator, as a value without the server, so that tests can call it directly.
struct StoreSimulation: Sendable {
    private let specification: Specification
    var account: SimulatedAccount
    private var tokens: APITokenVerifier
    var budgets: [String: KeyBudget] = [:]
    private var faultBook = FaultBook()
    var counters = StoreCounters()
    /// The advanced time in seconds.
    private(set) var advanced = 0.0
    /// The origin, such as `http://127.0.0.1:8080`.
    var host = "http://127.0.0.1"

    struct Request: Sendable {
        var method: String
        /// Path and query.
        var uri: String
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []

        func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name }?.value
        }
    }

    struct Response: Sendable {
        var status: Int
        var headers: [(String, String)] = []
        var body: [UInt8] = []
    }

    /// The result of a request.
    struct Outcome: Sendable {
        /// Nil to close the connection without a response.
        var response: Response?
        var delay: Duration = .zero
    }

    struct KeyBudget {
        var hour = RollingBudget(window: 3_600)
        var minute = RollingBudget(window: 60)
    }

    /// A request in progress.
    struct Exchange {
        let request: Request
        let path: Substring
        let query: Substring
        let fault: Fault?
        let now: Date
        var key: AppStoreConnectSimulator.Key?
    }

    init(_ options: AppStoreConnectSimulator.Options) throws {
        specification = try Specification()
        account = SimulatedAccount(options)
        tokens = try APITokenVerifier(options.keys)
    }

    var faults: [Fault] {
        get { faultBook.faults }
        set { faultBook.faults = newValue }
    }

    mutating func advance(by seconds: Double) {
        advanced += seconds
    }

    /// - Parameter now: The time of the clock for tokens.
    mutating func respond(to request: Request, at now: Date) -> Outcome {
        let parts = request.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first ?? ""
        let fault = faultBook.fault(for: request.method, path)
        let delay = fault?.delay ?? .zero
        if fault?.effect == .cut { return Outcome(response: nil, delay: delay) }
        var exchange = Exchange(
            request: request, path: path, query: parts.count > 1 ? parts[1] : "", fault: fault,
            now: now.addingTimeInterval(advanced))
        var response: Response
        if path.hasPrefix("/upload/") {
            response = upload(exchange)
        } else {
            do throws(ErrorDocument) {
                response = try performAuthorized(&exchange, tokenTime: now)
            } catch {
                response = refusal(error)
            }
            addBudget(to: &response, exchange)
        }
        counters.statuses[response.status, default: 0] += 1
        switch fault?.effect {
        case .loseReply: return Outcome(response: nil, delay: delay)
        case .truncate: response.body = Array(response.body.prefix(response.body.count / 2))
        default: break
        }
        return Outcome(response: response, delay: delay)
    }

    private mutating func performAuthorized(
        _ exchange: inout Exchange, tokenTime: Date
    ) throws(ErrorDocument) -> Response {
        let request = exchange.request
        let key = try tokens.verify(
            request.header("authorization"), method: request.method, path: exchange.path,
            query: exchange.query, at: tokenTime)
        exchange.key = key
        try spend(exchange)
        if account.knobs.lacksAgreement { throw ErrorDocument(.agreementsMissing) }
        if key.role == .customerSupport { throw ErrorDocument(.forbidden) }
        if case .response(let status, let code, let retryAfter)? = exchange.fault?.effect {
            var response = refusal(
                ErrorDocument(ErrorObject(status: status, code: code, title: "This is a fault on demand")))
            response.headers += retryAfter.map { [("Retry-After", String($0))] } ?? []
            return response
        }
        guard let (operations, id) = specification.operations(at: exchange.path) else {
            throw ErrorDocument(.noPath)
        }
        guard let operation = operations.first(where: { $0.method == request.method }) else {
            throw ErrorDocument(.methodNotAllowed)
        }
        counters.requests["\(operation.method) \(operation.path)", default: 0] += 1
        if operation.body != nil,
            request.header("content-type")?.lowercased().hasPrefix("application/json") != true
        {
            throw ErrorDocument(.unsupportedMediaType)
        }
        let query = try RequestQuery(
            exchange.query, for: operation, refused: account.knobs.refusedParameters)
        return try perform(operation, id, query, exchange, key)
    }

    /// Performs an operation on one resource. For other operations, returns a list.
    private mutating func perform(
        _ operation: Specification.Operation, _ id: String, _ query: RequestQuery, _ exchange: Exchange,
        _ key: AppStoreConnectSimulator.Key
    ) throws(ErrorDocument) -> Response {
        let now = exchange.now
        func body(_ type: String) throws(ErrorDocument) -> RequestBody {
            try RequestBody(
                exchange.request.body, of: type, id: operation.body == "update" ? id : nil,
                as: operation.body ?? "", specification)
        }
        switch "\(operation.method) \(operation.path)" {
        case "GET /v1/apps/{id}":
            _ = try app(id, key)
            return read("apps", id, query, exchange)
        case "GET /v1/buildBundles/{id}/appClipDomainCacheStatus":
            guard let clip = SimulatedAccount.clip(ofBundle: id) else {
                throw ErrorDocument(.notFound("buildBundles", id))
            }
            try checkClip(clip, key)
            return read("appClipDomainStatuses", id, query, exchange)
        case "GET /v1/appClips/{id}":
            try checkClip(id, key)
            return read("appClips", id, query, exchange)
        case "GET /v1/appClipAdvancedExperiences/{id}":
            _ = try experience(id, key)
            return read("appClipAdvancedExperiences", id, query, exchange)
        case "POST /v1/appClipAdvancedExperiences":
            let made = try create(try body("appClipAdvancedExperiences"), key, at: now)
            return created("appClipAdvancedExperiences", made, query, exchange)
        case "PATCH /v1/appClipAdvancedExperiences/{id}":
            let experience = try experience(id, key)
            try change(experience, try body("appClipAdvancedExperiences"), at: now)
            return read("appClipAdvancedExperiences", id, query, exchange)
        case "GET /v1/appClipAdvancedExperienceImages/{id}":
            _ = try image(id)
            return read("appClipAdvancedExperienceImages", id, query, exchange)
        case "POST /v1/appClipAdvancedExperienceImages":
            let reserved = try reserve(try body("appClipAdvancedExperienceImages"), at: now)
            // The response to the reservation always contains its operations.
            let hidden = account.knobs.hidesUploadOperations
            account.knobs.hidesUploadOperations = false
            defer { account.knobs.hidesUploadOperations = hidden }
            return created("appClipAdvancedExperienceImages", reserved, query, exchange)
        case "PATCH /v1/appClipAdvancedExperienceImages/{id}":
            let image = try image(id)
            try commit(image, try body("appClipAdvancedExperienceImages"), at: now)
            return read("appClipAdvancedExperienceImages", id, query, exchange)
        default:
            let (type, ids) = try list(operation, id, query, key, at: now)
            let listing = DocumentWriter.Listing(
                path: String(exchange.path), type: type, ids: ids,
                isLinkage: operation.type == nil, fault: exchange.fault?.effect)
            return Response(status: 200, body: writer(query, now).page(listing).serialized())
        }
    }

    /// The type and the IDs of what an operation lists.
    private func list(
        _ operation: Specification.Operation, _ id: String, _ query: RequestQuery,
        _ key: AppStoreConnectSimulator.Key, at now: Date
    ) throws(ErrorDocument) -> (type: String, ids: [String]) {
        let apps = account.apps.filter { key.reaches($0.id) }
        switch "\(operation.method) \(operation.path)" {
        case "GET /v1/apps":
            let found = apps.filter { query.filters["bundleId"]?.contains($0.bundleID) != false }
            return ("apps", found.map(\.id))
        case "GET /v1/apps/{id}/appClips", "GET /v1/apps/{id}/relationships/appClips":
            let found = try app(id, key).clips.filter {
                query.filters["bundleId"]?.contains($0.bundleID) != false
            }
            return ("appClips", found.map(\.id))
        case "GET /v1/builds":
            let found = apps.filter { query.filters["app"]?.contains($0.id) != false }
            return ("builds", found.map { SimulatedAccount.build(ofApp: $0.id) })
        case "GET /v1/appClips/{id}/appClipAdvancedExperiences",
            "GET /v1/appClips/{id}/relationships/appClipAdvancedExperiences":
            try checkClip(id, key)
            let found = account.listed(ofClip: id, filters: query.filters, at: now)
            return ("appClipAdvancedExperiences", found.map(\.id))
        default: throw ErrorDocument(.noPath)
        }
    }

    // MARK: Responses

    private func writer(_ query: RequestQuery, _ now: Date) -> DocumentWriter {
        DocumentWriter(
            account: account, specification: specification, query: query, host: host, now: now)
    }

    private func read(_ type: String, _ id: String, _ query: RequestQuery, _ exchange: Exchange) -> Response {
        Response(
            status: 200,
            body: writer(query, exchange.now).one(type, id, path: "/v1/\(type)/\(id)").serialized())
    }

    private func created(
        _ type: String, _ id: String, _ query: RequestQuery, _ exchange: Exchange
    ) -> Response {
        // The link `self` leads to the collection. [observed]
        Response(
            status: 201, headers: [("Location", "\(host)/v1/\(type)/\(id)")],
            body: writer(query, exchange.now).one(type, id, path: "/v1/\(type)").serialized())
    }

    private mutating func refusal(_ document: ErrorDocument) -> Response {
        for error in document.errors { counters.refusals[error.code, default: 0] += 1 }
        let errors = document.errors.map { $0.json(id: account.newID()) }
        return Response(
            status: document.errors.first?.status ?? 500,
            body: JSONValue.object(["errors": .array(errors)]).serialized())
    }

    // MARK: Budgets

    private mutating func spend(_ exchange: Exchange) throws(ErrorDocument) {
        guard let id = exchange.key?.id else { return }
        let isWrite = exchange.request.method != "GET"
        var budget = budgets[id] ?? KeyBudget()
        let hour = budget.hour.spent(at: exchange.now)
        let minute = budget.minute.spent(at: exchange.now)
        let isOver =
            hour >= account.knobs.hourlyLimit
            || isWrite && account.knobs.minuteLimit.map { minute >= $0 } == true
        if isOver {
            counters.overruns += 1
        } else {
            budget.hour.spend(at: exchange.now)
            if isWrite { budget.minute.spend(at: exchange.now) }
            counters.mostInAnHour = max(counters.mostInAnHour, hour + 1)
        }
        budgets[id] = budget
        if isOver { throw ErrorDocument(.rateLimitExceeded) }
    }

    private mutating func addBudget(to response: inout Response, _ exchange: Exchange) {
        response.headers += [
            ("Content-Type", "application/json"), ("X-Request-ID", account.newID()),
        ]
        guard let id = exchange.key?.id, var budget = budgets[id] else { return }
        let knobs = account.knobs
        func text(_ name: String, _ limit: Int, _ spent: Int) -> String {
            "user-\(name)-lim:\(limit);user-\(name)-rem:\(max(0, limit - spent));"
        }
        let hour = text("hour", knobs.hourlyLimit, budget.hour.spent(at: exchange.now))
        if let limit = knobs.minuteLimit, exchange.request.method != "GET" {
            let minute = text("minute", limit, budget.minute.spent(at: exchange.now))
            let lines =
                switch knobs.minuteHeader {
                case .alone: [minute]
                case .sameLine: [hour + minute]
                case .secondLine: [hour, minute]
                }
            response.headers += lines.map { ("X-Rate-Limit", $0) }
        } else {
            response.headers.append(("X-Rate-Limit", hour))
        }
        if response.status == 429, knobs.tellsRetryAfter,
            !response.headers.contains(where: { $0.0 == "Retry-After" })
        {
            let isOfHour = budget.hour.spent(at: exchange.now) >= knobs.hourlyLimit
            let relief =
                isOfHour ? budget.hour.relief(at: exchange.now) : budget.minute.relief(at: exchange.now)
            response.headers.append(("Retry-After", String(Int(relief.rounded(.up)))))
        }
        budgets[id] = budget
    }

    // MARK: Permissions

    private func app(
        _ id: String, _ key: AppStoreConnectSimulator.Key
    ) throws(ErrorDocument) -> AppStoreConnectSimulator.App {
        guard let app = account.apps.first(where: { $0.id == id }) else {
            throw ErrorDocument(.notFound("apps", id))
        }
        guard key.reaches(id) else { throw ErrorDocument(.forbidden) }
        return app
    }

    func checkClip(_ id: String, _ key: AppStoreConnectSimulator.Key) throws(ErrorDocument) {
        guard let app = account.clip(id)?.app else { throw ErrorDocument(.notFound("appClips", id)) }
        guard key.reaches(app.id) else { throw ErrorDocument(.forbidden) }
    }

    private func experience(
        _ id: String, _ key: AppStoreConnectSimulator.Key
    ) throws(ErrorDocument) -> SimulatedExperience {
        // A removed experience is found if it can be restored.
        let found = account.experience(id) ?? (account.knobs.revives ? account.experiences[id] : nil)
        guard let found else { throw ErrorDocument(.notFound("appClipAdvancedExperiences", id)) }
        try checkClip(found.clipID, key)
        return found
    }

    private func image(_ id: String) throws(ErrorDocument) -> SimulatedImage {
        guard let image = account.images[id] else {
            throw ErrorDocument(.notFound("appClipAdvancedExperienceImages", id))
        }
        return image
    }
}

extension AppStoreConnectSimulator.Key {
    fileprivate func reaches(_ app: String) -> Bool { apps?.contains(app) != false }
}
