import Administration
import HTTPTypes
import JSON
import Lookups
import Tenancy

/// The endpoints that write many items of one kind at once, from CSV or JSON lines.
///
/// `PUT` replaces the collection: it removes items and clears fields that are not sent. `PATCH` adds and changes items and keeps
/// the fields that a row does not name; with `prune` it also removes the items that are not sent.
struct CollectionEndpoints<Item: WritableResource>: Sendable {
    let store: any CollectionStore<Item>
    let limits: CollectionLimits

    var endpoints: [Endpoint] {
        [
            Endpoint(.put, Item.path, .streamed(.manage, put), problems: Self.problems),
            Endpoint(.patch, Item.path, .streamed(.manage, patch), problems: Self.problems),
        ]
    }

    private static var problems: [ProblemType] {
        .parameters + [
            .inUse, .quotaExceeded, .tooManyRemovals, .tooManyRows, .invalidRows, .invalidHeader,
        ]
    }

    private func put(_ request: AdmittedRequest) throws(Problem) -> Endpoint.BodyHandler {
        let parameters = try request.queryParameters(named: ["dryRun", "allowRemovals"])
        let options = ImportOptions(
            prunes: true, replaces: true, isDryRun: try parameters.flag("dryRun"),
            allowedRemovals: try parameters.count("allowRemovals"))
        return { try await write(request, $0, options) }
    }

    private func patch(_ request: AdmittedRequest) throws(Problem) -> Endpoint.BodyHandler {
        let parameters = try request.queryParameters(named: ["prune", "dryRun", "allowRemovals"])
        let options = ImportOptions(
            prunes: try parameters.flag("prune"), isDryRun: try parameters.flag("dryRun"),
            allowedRemovals: try parameters.count("allowRemovals"))
        guard options.prunes || options.allowedRemovals == nil else {
            throw Problem.field(
                "allowRemovals", code: "invalid_parameter", "the parameter needs prune=true")
        }
        return { try await write(request, $0, options) }
    }

    private func write(
        _ request: AdmittedRequest, _ body: LongBody, _ options: ImportOptions
    ) async throws -> APIResponse {
        try await Problem.managing {
            let (outcome, isVisible) =
                switch request.request.fields.bodyType(among: [.csv, .jsonLines]) {
                case .jsonLines:
                    try await writeLines(
                        body, JSONLineReader<Item>(maximumLineLength: limits.rowLength), request,
                        options)
                default:
                    try await write(
                        body, TableReader<Item>(maximumRowLength: limits.rowLength), request, options
                    )
                }
            switch outcome {
            case .done(let counts): return APIResponse(writing: counts.json, isVisible: isVisible)
            case .planned(let plan): return APIResponse(writing: plan.json, isVisible: true)
            case .refused(let problems): throw Problem(problems)
            }
        }
    }

    /// Refuses a body of too many lines before the import's turn, because reading them would block other imports.
    private func writeLines(
        _ body: LongBody, _ reader: JSONLineReader<Item>, _ request: AdmittedRequest,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        var lines = 0
        for try await piece in body {
            for byte in piece where byte == UInt8(ascii: "\n") { lines += 1 }
            guard lines <= limits.rows else {
                throw AdministrationError.tooManyRows(limit: limits.rows)
            }
        }
        return try await write(body, reader, request, options)
    }

    private func write(
        _ body: LongBody, _ reader: some RowReader<Item>, _ request: AdmittedRequest,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        do {
            return try await store.importRows(
                FileRows(body, reader, maximum: limits.rows), of: request.tenant,
                by: request.actor, options)
        } catch AdministrationError.keyNotActive {
            throw Problem.unauthorized
        }
    }
}

/// The limits of imports' bodies.
struct CollectionLimits: Sendable {
    var rows = Upload.maximumRows
    /// The most bytes of a row.
    var rowLength = Upload.maximumRowLength

    /// No limits: for callers in this process, which use their own memory.
    static let none = CollectionLimits(rows: .max, rowLength: .max)
}

extension APIResponse {
    fileprivate init(writing members: JSONObject, isVisible: Bool) {
        var members = members
        if !isVisible { members["visible"] = false }
        self.init(isVisible ? .ok : .accepted, uncached: JSONValue.object(members).serialized())
        isCompressible = true
    }
}

extension Problem {
    /// The problem of refused rows: the first hundred by line, and their number.
    fileprivate init(_ problems: ImportProblems) {
        self.init(
            .unprocessableContent, "invalid_rows",
            "\(problems.count) \(problems.count == 1 ? "row is" : "rows are") refused, and nothing was changed",
            members: [
                "count": JSONValue(problems.count),
                "rows": .array(
                    problems.first.map { .object($0.json) }),
            ])
    }
}
