import Administration
import ArgumentParser
import Foundation
import HTTPAPI
import Invocation
import JSON
import Locations
import Persistence
import PostgreSQL
import Receipts
import Routing
import Tenancy

struct LookUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Answer GET /v1/lookup for a tenant.")

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The invocation URL.") var url: String

    func run() async throws {
        let url = try InvocationURL(requested: url)
        try await tenant.answer { _, table in try APIAnswers.lookUp(url, in: table) }
    }
}

struct ConfirmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Answer POST /v1/confirmations for a tenant; recorded like any other.",
        discussion: """
            For trying things out, with made-up coordinates: a command's arguments are visible to others on the machine.
            """)

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The invocation URL.") var url: String
    @Option(help: "How the clip was launched, where that is known.") var source = InvocationSource.unknown
    @Option(
        name: .customLong("location-access"),
        help: "Whether the person allows the clip to confirm, where that is known.")
    var access = ConfirmationRequest.LocationAccess.unknown
    @Option(parsing: .unconditional, help: "The person's latitude.") var latitude: Double?
    @Option(parsing: .unconditional, help: "The person's longitude.") var longitude: Double?
    @Option(name: .customLong("horizontal-accuracy"), parsing: .unconditional, help: "In metres.")
    var accuracy: Double?
    @Flag(inversion: .prefixedNo, help: "The device's own result.") var inRegion: Bool?
    @Option(
        name: .customLong("error-code"), parsing: .unconditional,
        help: "The error code of the device's own result.")
    var errorCode: Int?

    func run() async throws {
        let body = try body()
        try await tenant.answer(receipts: try receipts.makeIssuer()) { answers, table in
            try answers.confirm(body, in: table, at: Date())
        }
    }

    private func body() throws(CommandError) -> JSONObject {
        var body: JSONObject = [
            "url": .string(url), "source": .string(source.rawValue),
            "locationAccess": .string(access.rawValue),
        ]
        var coordinate = JSONObject()
        coordinate["latitude"] = try latitude.map { number throws(CommandError) in
            try Self.json(number, "--latitude")
        }
        coordinate["longitude"] = try longitude.map { number throws(CommandError) in
            try Self.json(number, "--longitude")
        }
        coordinate["horizontalAccuracy"] = try accuracy.map { number throws(CommandError) in
            try Self.json(number, "--horizontal-accuracy")
        }
        if !coordinate.isEmpty { body["coordinate"] = .object(coordinate) }
        var result = JSONObject()
        result["inRegion"] = inRegion.map(JSONValue.bool)
        result["errorCode"] = errorCode.map { JSONValue($0) }
        if !result.isEmpty { body["deviceResult"] = .object(result) }
        return body
    }

    private static func json(_ number: Double, _ name: String) throws(CommandError) -> JSONValue {
        guard let number = JSONNumber(number) else { throw .invalidOption(name, "must be a finite number") }
        return .number(number)
    }
}

struct PayloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload", abstract: "Answer POST /v1/payloads for a tenant.")

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The URL that the notification leads to.") var url: String
    @Option(help: "The alert's title.") var title: String?
    @Option(help: "The alert's subtitle.") var subtitle: String?
    @Option(help: "The alert's body.") var body: String?
    @Option(help: "The notification's category.") var category: String?
    @Option(help: "The aps dictionary as JSON, to which the options above are added.") var aps: String?
    @Option(help: "What goes beside aps, as JSON.") var custom: String?
    @Option(help: "pushType, id, expiration, priority and collapseID, as JSON.") var headers: String?
    @Option(name: .customLong("launched-at"), help: "When the clip was launched, as 2026-03-01T12:30:00Z.")
    var launchedAt: String?

    func run() async throws {
        let request = try request()
        try await tenant.answer { answers, table in
            try answers.compose(request, in: table, at: Date())
        }
    }

    private func request() throws -> JSONObject {
        var aps = try Self.object(aps, "--aps") ?? [:]
        if title != nil || subtitle != nil || body != nil {
            let given = aps["alert"] ?? [:]
            guard var alert = given.objectValue else {
                throw CommandError.invalidOption(
                    "--aps", "holds an alert that --title, --subtitle and --body cannot be added to")
            }
            for (key, value) in [("title", title), ("subtitle", subtitle), ("body", body)] {
                if let value { alert[key] = .string(value) }
            }
            aps["alert"] = .object(alert)
        }
        if let category { aps["category"] = .string(category) }
        var request: JSONObject = ["url": .string(url), "aps": .object(aps)]
        request["custom"] = try Self.object(custom, "--custom").map(JSONValue.object)
        request["headers"] = try Self.object(headers, "--headers").map(JSONValue.object)
        request["launchedAt"] = launchedAt.map(JSONValue.string)
        return request
    }

    private static func object(_ text: String?, _ name: String) throws -> JSONObject? {
        guard let text else { return nil }
        guard let object = try JSONValue(parsing: text.utf8).objectValue else {
            throw CommandError.notAnObject(name)
        }
        return object
    }
}

extension TenantOptions {
    /// Prints an answer as JSON; a refusal too, which is then also the command's error.
    fileprivate func answer(
        receipts: ReceiptIssuer? = nil,
        _ body: @Sendable (APIAnswers, TenantTable) throws -> [UInt8]
    ) async throws {
        let signatures = try PlaceURLSigner.fromEnvironment()
        do {
            let answer = try await withPool { pool, _, tenant in
                let confirmations = ConfirmationQueue(pool)
                let table = try await pool.tenantTable(of: tenant.id, trusting: .signed(signatures))
                let answer = try body(APIAnswers(recorder: confirmations, receipts: receipts), table)
                try await confirmations.flush()
                return answer
            }
            try JSONValue(parsing: answer).printPretty()
        } catch let problem as Problem {
            JSONValue.object(problem.json).printPretty()
            throw problem
        }
    }
}
