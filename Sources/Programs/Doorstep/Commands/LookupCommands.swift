import Administration
import ArgumentParser
import Confirmations
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Notifications
import Persistence
import PostgreSQL
import Receipts
import ServerClient
import Tenancy

struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Look up an invocation URL, as GET /v1/lookup does.",
        discussion: "Example: doorstep lookup https://appclip.example.com/shop/42")

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Invocation URL.") var url: String

    func run() async throws {
        try await tenant.printResponse { try await $0.read("/v1/lookup", [("url", url)]) }
    }
}

struct ConfirmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Confirm a location, as POST /v1/confirmations does; the confirmation is recorded.",
        discussion: """
            For tests with made-up coordinates: other users of the machine can see a command's arguments.

            Example: doorstep confirm https://appclip.example.com/shop/42 --source qr_code --in-region
            """)

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Invocation URL.") var url: String
    @Option(help: "Source of the launch, if known.") var source = InvocationSource.unknown
    @Option(
        name: .customLong("location-access"),
        help: "Whether the person allows the confirmation, if known.")
    var access = ConfirmationRequest.LocationAccess.unknown
    @Option(parsing: .unconditional, help: "Latitude of the person, in degrees.") var latitude: Double?
    @Option(parsing: .unconditional, help: "Longitude of the person, in degrees.") var longitude: Double?
    @Option(
        name: .customLong("horizontal-accuracy"), parsing: .unconditional,
        help: "Horizontal accuracy in metres.")
    var accuracy: Double?
    @Flag(inversion: .prefixedNo, help: "Result of the device's own check.") var inRegion: Bool?
    @Option(
        name: .customLong("error-code"), parsing: .unconditional,
        help: "Error code of the device's own check.")
    var errorCode: Int?

    func validate() throws {
        guard (latitude == nil) == (longitude == nil), accuracy == nil || latitude != nil else {
            throw ValidationError(
                "--latitude and --longitude require each other, and --horizontal-accuracy requires both")
        }
        guard [latitude, longitude, accuracy].allSatisfy({ $0?.isFinite ?? true }) else {
            throw ValidationError("--latitude, --longitude and --horizontal-accuracy must be finite numbers")
        }
        guard [latitude != nil, inRegion != nil, errorCode != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("give a coordinate, --in-region or --error-code, and only one of them")
        }
    }

    func run() async throws {
        try await tenant.printResponse(receipts: receipts.signing()?.issuer) {
            try await $0.post("/v1/confirmations", body)
        }
    }

    private var body: JSONObject {
        var body: JSONObject = [
            "url": .string(url), "source": .string(source.rawValue),
            "locationAccess": .string(access.rawValue),
        ]
        if let latitude, let longitude {
            var coordinate: JSONObject = [
                "latitude": JSONValue(finite: latitude), "longitude": JSONValue(finite: longitude),
            ]
            coordinate["horizontalAccuracy"] = accuracy.map { JSONValue(finite: $0) }
            body["coordinate"] = .object(coordinate)
        }
        var result = JSONObject()
        result["inRegion"] = inRegion.map(JSONValue.bool)
        result["errorCode"] = errorCode.map { JSONValue($0) }
        if !result.isEmpty { body["deviceResult"] = .object(result) }
        return body
    }
}

struct PayloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload", abstract: "Compose a notification's payload, as POST /v1/payloads does.",
        discussion:
            "Example: doorstep payload https://appclip.example.com/shop/42 --title 'Your order is ready'")

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "URL that the notification leads to.") var url: String
    @Option(help: "Title of the alert.") var title: String?
    @Option(help: "Subtitle of the alert.") var subtitle: String?
    @Option(help: "Body of the alert.") var body: String?
    @Option(help: "Category of the notification.") var category: String?
    @Option(help: "The aps dictionary as JSON; the options above are added to it.") var aps: String?
    @Option(help: "Members beside aps, as JSON.") var custom: String?
    @Option(help: "pushType, id, expiration, priority and collapseID, as JSON.") var headers: String?
    @Option(name: .customLong("launched-at"), help: "Time of the launch, such as 2026-03-01T12:30:00Z.")
    var launchedAt: String?

    func run() async throws {
        let request = try request()
        try await tenant.printResponse { try await $0.post("/v1/payloads", request) }
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
    /// Prints a response as JSON. A refusal is printed, too, and becomes the command's error.
    fileprivate func printResponse(
        receipts: ReceiptIssuer? = nil, _ ask: (APIConnection) async throws -> JSONObject
    ) async throws {
        try await Refused.printResponse {
            try await withAPI(receipts: receipts) { .object(try await ask($0)) }
        }
    }
}
