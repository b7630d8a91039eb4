import Administration
import ArgumentParser
import Formats
import Foundation
import ServerClient
import Tenancy

/// Stores a key for a server.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Store a secret key for commands that use a server over HTTP.",
        discussion: """
            Reads the key from standard input, or asks for it at a terminal, and asks the server for its tenant. The \
            key is stored in a file that only you can read. Commands use it if neither a database nor DOORSTEP_KEY \
            is named. --list shows the stored logins; the first is used if a command names neither a server nor a \
            tenant.

            Example: doorstep login --server https://doorstep.example.com
            """)

    @OptionGroup var output: OutputOptions
    @Option(Settings.server) var server: ServerURL?
    @Flag(help: "List the stored logins, the newest first.") var list = false

    func run() async throws {
        if list { return try printLogins() }
        guard let server = try Settings.server.value(server) else { throw CommandError.noServer }
        let login = Login(server: server, key: try Self.readKey())
        let tenant = try await login.withServer { try await $0.tenantSlug() }
        let file = LoginFile()
        try file.keep(login, of: tenant)
        output.print(
            [
                "server": .string(server.description), "tenant": .string(tenant.text),
                "file": .string(file.path),
            ], line: "Logged in to \(tenant) at \(server)")
    }

    private func printLogins() throws {
        output.print(
            try LoginFile().logins(at: server).map { login in
                [
                    "tenant": .string(login.tenant?.text ?? ""), "server": .string(login.server.description),
                ]
            }, columns: ["tenant", "server"])
    }

    private static func readKey() throws -> String {
        // The key is not shown while it is typed.
        let typed = isatty(STDIN_FILENO) == 1 ? getpass("Key: ").map { String(cString: $0) } : readLine()
        guard let key = typed?.trimmingCharacters(in: .whitespaces), !key.isEmpty else {
            throw CommandError.noKeyGiven
        }
        return key
    }
}

/// Shows the key that commands use.
struct WhoamiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Show the server, the tenant and the key that commands use.",
        discussion: "Example: doorstep whoami")

    @OptionGroup var output: OutputOptions
    @OptionGroup var tenant: TenantOptions

    func run() async throws {
        guard let shown = try await tenant.loginWithKey() else { throw CommandError.noServer }
        output.print(shown, columns: ["server", "tenant", "key", "kind", "scopes", "locations"])
    }
}

extension TenantOptions {
    /// The login that commands use, with the server's description of its key; nil if a database is named.
    fileprivate func loginWithKey() async throws -> JSONObject? {
        guard let login = try login() else { return nil }
        let key = try await withServer { try await $0.read("/v1/key") } ?? [:]
        let slug = key["tenant"]?.objectValue?["slug"]
        return [
            "server": .string(login.server.description), "tenant": slug ?? .null, "key": key["id"] ?? .null,
            "kind": key["kind"] ?? .null, "scopes": key["scopes"] ?? .null,
            "locations": key["locations"] ?? .null,
        ]
    }
}

/// Deletes stored keys for servers.
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Delete stored keys: all, or those of a server or tenant.",
        discussion: """
            The keys remain valid: 'doorstep key delete' revokes one.

            Example: doorstep logout --server https://doorstep.example.com
            """)

    @OptionGroup var output: OutputOptions
    @Option(Settings.server) var server: ServerURL?
    @Option(Settings.tenant) var tenant: TenantSlug?

    func run() throws {
        // Only named logins are removed: the environment names the login to use, not the one to remove.
        let count = try LoginFile().forget(at: server, of: tenant)
        output.print(["forgotten": JSONValue(count)], line: "Forgot \(count) key\(count == 1 ? "" : "s")")
    }
}
