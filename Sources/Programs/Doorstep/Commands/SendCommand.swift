import Administration
import ArgumentParser
import Formats
import Foundation
import Notifications
import Persistence
import ServerClient

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a notification, as POST /v1/notifications does.",
        discussion: """
            The notification is queued in the database, and running servers send it. The command checks the payload \
            and each instance as a request over HTTP does.

            Example: doorstep send --url https://appclip.example.com/shop/42 --business \
            --aps '{"alert": "Your order is ready"}'
            """)

    @OptionGroup var tenant: TenantOptions
    @Option(help: "URL that the notification leads to.") var url: String
    @Option(help: "The aps dictionary as JSON.") var aps: String?
    @Option(
        name: .customLong("aps-file"), help: ArgumentHelp("File with the aps dictionary.", valueName: "file"),
        completion: .file())
    var apsFile: String?
    @Option(help: "Members beside aps, as JSON.") var custom: String?
    @Option(help: "pushType, expiration, priority and collapseID, as JSON.") var headers: String?
    @Option(help: "Send to the instance with this ID.") var instance: String?
    @Flag(help: "Send to all instances launched at the URL's location within 8 hours.") var business = false
    @Option(
        name: .customLong("url-prefix"),
        help: ArgumentHelp("Send to all instances launched by a URL with this prefix.", valueName: "url"))
    var urlPrefix: String?
    @Flag(
        name: .customLong("confirmed-only"),
        help: "Only to instances confirmed at the location within 8 hours.")
    var confirmedOnly = false
    @Option(
        help:
            "Only to instances of this environment: production or sandbox. A test tenant accepts only sandbox."
    ) var environment: String?
    @Option(
        name: .customLong("idempotency-key"),
        help: "Idempotency key: a repetition within 24 hours sends nothing and prints the first response.")
    var idempotencyKey: String?

    func validate() throws {
        guard (aps == nil) != (apsFile == nil) else {
            throw ValidationError("name the aps dictionary: --aps or --aps-file")
        }
        guard [instance != nil, business, urlPrefix != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name the recipients: --instance, --business or --url-prefix")
        }
    }

    func run() async throws {
        let body = try body()
        try await Refused.printResponse {
            try await tenant.withAPI { api in
                .object(try await api.post("/v1/notifications", body, idempotencyKey: idempotencyKey))
            }
        }
    }

    private func body() throws -> JSONObject {
        var audience = JSONObject()
        audience["instance"] = instance.map(JSONValue.string)
        if business { audience["business"] = true }
        audience["urlPrefix"] = urlPrefix.map(JSONValue.string)
        var body: JSONObject = [
            "url": .string(url), "aps": .object(try apsDictionary()), "audience": .object(audience),
        ]
        if confirmedOnly { body["confirmedOnly"] = true }
        body["environment"] = environment.map(JSONValue.string)
        body["custom"] = try custom.map { .object(try Self.object($0, "--custom")) }
        body["headers"] = try headers.map { .object(try Self.object($0, "--headers")) }
        return body
    }

    private func apsDictionary() throws -> JSONObject {
        if let aps { return try Self.object(aps, "--aps") }
        let path = apsFile ?? ""
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandError.unreadableFile(path)
        }
        return try Self.object(text, "--aps-file")
    }

    private static func object(_ text: String, _ name: String) throws -> JSONObject {
        guard let object = try JSONValue(parsing: text.utf8).objectValue else {
            throw CommandError.notAnObject(name)
        }
        return object
    }
}
