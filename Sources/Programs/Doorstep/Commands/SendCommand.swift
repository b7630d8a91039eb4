import Administration
import ArgumentParser
import Foundation
import JSON
import Notifications
import Persistence
import ServerClient

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Answer POST /v1/notifications for a tenant: send a notification.",
        discussion: """
            The notification is queued in the database, and sent by the servers that run. The payload is checked, and \
            each instance decided on, as for a request over HTTP.
            """)

    @OptionGroup var tenant: TenantOptions
    @Option(help: "The URL that the notification leads to.") var url: String
    @Option(help: "The aps dictionary as JSON.") var aps: String?
    @Option(
        name: .customLong("aps-file"), help: ArgumentHelp("A file with it.", valueName: "file"),
        completion: .file())
    var apsFile: String?
    @Option(help: "What goes beside aps, as JSON.") var custom: String?
    @Option(help: "pushType, expiration, priority and collapseID, as JSON.") var headers: String?
    @Option(help: "For the instance of this ID.") var instance: String?
    @Flag(help: "For all that were launched at the URL's business within 8 hours.") var business = false
    @Option(
        name: .customLong("url-prefix"),
        help: ArgumentHelp("For all that were launched by a URL that begins so.", valueName: "url"))
    var urlPrefix: String?
    @Flag(
        name: .customLong("confirmed-only"), help: "Only for those confirmed at the location within 8 hours.")
    var confirmedOnly = false
    @Option(help: "Only for instances of production or sandbox.") var environment: String?
    @Option(
        name: .customLong("idempotency-key"),
        help: "A repetition with the same key within 24 hours sends nothing and prints the first answer.")
    var idempotencyKey: String?

    func validate() throws {
        guard (aps == nil) != (apsFile == nil) else {
            throw ValidationError("give the aps dictionary by --aps or by --aps-file")
        }
        guard [instance != nil, business, urlPrefix != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("say for whom: --instance, --business or --url-prefix")
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
