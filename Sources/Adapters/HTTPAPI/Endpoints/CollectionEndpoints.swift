import Administration
import Formats
import HTTPTypes
import Lookups
import Tenancy

/// The endpoints that write many items of one kind at once, from CSV or JSON lines.
///
/// `PUT` replaces the collection: it removes items and clears fields that are not sent. `PATCH` adds and changes items and keeps
/// the fields that a row does not name; with `prune` it also removes the items that are not sent.
struct CollectionEndpoints<Item: CollectionResource>: Sendable {
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
            let isJSONLines = request.request.fields.bodyType(among: [.csv, .jsonLines]) == .jsonLines
            var options = options
            options.isSmall = try await isSmall(body, isJSONLines: isJSONLines) && !options.prunes
            let (outcome, isVisible) =
                if isJSONLines {
                    try await write(
                        body, JSONLineReader<Item>(maximumLineLength: limits.rowLength), request, options)
                } else {
                    try await write(
                        body, TableReader<Item>(maximumRowLength: limits.rowLength), request, options)
                }
            switch outcome {
            case .done(let counts): return APIResponse(writing: counts.json, isVisible: isVisible)
            case .planned(let plan): return APIResponse(writing: plan.json, isVisible: true)
            case .refused(let problems): throw Problem(problems)
            }
        }
    }

    /// Whether a body has few rows. Reads it before the import's turn, because reading would block other imports.
    /// - Throws: `AdministrationError.tooManyRows` for a body of too many JSON lines.
    private func isSmall(_ body: LongBody, isJSONLines: Bool) async throws -> Bool {
        guard case .spooled(let body) = body else { return false }
        var (length, lineFeeds, carriageReturns) = (0, 0, 0)
        var isSmall = true
        for try await piece in body {
            length += piece.count
            for byte in piece {
                if byte == UInt8(ascii: "\n") { lineFeeds += 1 }
                if byte == UInt8(ascii: "\r") { carriageReturns += 1 }
            }
            // A header row precedes the rows of a table.
            let rows = max(lineFeeds, carriageReturns) - (isJSONLines ? 0 : 1)
            isSmall = length <= CollectionLimits.smallLength && rows <= CollectionLimits.smallRows
            guard isSmall || isJSONLines else { return false }
            guard !isJSONLines || lineFeeds <= limits.rows else {
                throw AdministrationError.tooManyRows(limit: limits.rows)
            }
        }
        return isSmall
    }

    private func write(
        _ body: LongBody, _ reader: some RowReader<Item>, _ request: AdmittedRequest,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        do {
            return try await store.importRows(
                FileRows(body, reader, maximum: limits.rows, maximumRefused: limits.refusedRows),
                of: request.tenant, by: request.actor, options)
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
    /// The number of refused rows after which the rest of a body is not read. [ours]
    var refusedRows = ImportProblems.limit

    /// The most rows of a small import, which does not wait for large imports. [ours]
    static let smallRows = 1_000
    /// The most bytes of a small import. [ours]
    static let smallLength = 1 << 20

    /// No limits: for callers in this process, which use their own memory.
    static let none = CollectionLimits(rows: .max, rowLength: .max, refusedRows: .max)
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
            "\(problems.summary), and nothing was changed",
            members: [
                "count": JSONValue(problems.count),
                "rows": .array(
                    problems.first.map { .object($0.json) }),
            ])
    }
}
