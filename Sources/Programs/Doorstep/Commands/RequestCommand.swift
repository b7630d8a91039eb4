import ArgumentParser
import Formats
import ServerClient
import Tenancy

struct RequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "List refused and failed requests of a tenant's keys.",
        discussion: """
            A server records a refused request some seconds after its response, and keeps it for 7 days. The record has no \
            URL, body or coordinate.

            Example: doorstep request list --limit 20
            """,
        subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List refused and failed requests, the newest first.",
            discussion: "Example: doorstep request list --code invalid_url")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(name: .customLong("id"), help: "Only the request with this request ID.") var requestID:
            String?
        @Option(help: "Only requests with this status, such as 404.") var status: Int?
        @Option(help: "Only requests with this error code, such as invalid_url.") var code: String?
        @Option(help: "Only requests of the key with this ID.") var key: KeyID?
        @Option(help: "Maximum number of requests.") var limit = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let filter = [
                ("requestID", requestID), ("status", status.map { "\($0)" }), ("code", code),
                ("key", key.map { "\($0)" }),
            ].compactMap { name, value in value.map { (name, $0) } }
            let requests = try await tenant.withAPI { api in
                try await api.list("/v1/requests", limit: limit, where: filter)
            }
            output.print(requests, columns: ["at", "endpoint", "status", "code", "key", "requestID"])
        }
    }
}
