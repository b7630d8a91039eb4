import Formats
import Foundation
import ServerClient
import Tenancy

/// A key for a tenant at a server.
struct Login: Sendable {
    let server: ServerURL
    /// Nil for the key of the environment, whose tenant only the server knows.
    var tenant: TenantSlug?
    let key: String

    func withServer<Result: Sendable>(
        _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        try await APIConnection.with(server, key: key, body)
    }
}

/// The keys that `doorstep login` stores: `doorstep/logins.json` in the user's configuration folder (XDG Base Directory
/// Specification), readable only by the user.
struct LoginFile {
    private let file: SecretFile

    init() {
        let environment = ProcessInfo.processInfo.environment
        let folder =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
        file = SecretFile(path: folder + "/doorstep/logins.json")
    }

    var path: String { file.path }

    /// The logins, newest first.
    private struct Entry: Equatable {
        let server: ServerURL
        let tenant: TenantSlug
        let key: String

        var json: JSONObject {
            [
                "server": .string(server.description), "tenant": .string(tenant.text), "key": .string(key),
            ]
        }

        init(_ server: ServerURL, _ tenant: TenantSlug, key: String) {
            (self.server, self.tenant, self.key) = (server, tenant, key)
        }

        init(_ value: JSONValue) throws {
            var fields = try JSONObjectReader(value)
            server = try ServerURL(try fields.requiredString("server"))
            tenant = try TenantSlug(try fields.requiredString("tenant"))
            key = try fields.requiredString("key")
            try fields.finish()
        }
    }

    /// The login of the named server and tenant. If they are not named, the newest login.
    func login(at server: ServerURL?, of tenant: TenantSlug?) throws -> Login? {
        if let key = try Settings.key.value() {
            guard let server else { throw CommandError.noServer }
            // The key in the environment is for the server in the environment. If the environment names no server, it is for the
            // named one.
            let own = try Settings.server.value()
            if own == nil || own == server { return Login(server: server, key: key) }
        }
        return try logins(at: server).first { tenant == nil || $0.tenant == tenant }
    }

    /// All stored logins, or those of a server; newest first.
    func logins(at server: ServerURL? = nil) throws -> [Login] {
        try entries().filter { server == nil || $0.server == server }
            .map { Login(server: $0.server, tenant: $0.tenant, key: $0.key) }
    }

    /// Stores a key, and replaces an earlier key for the same tenant.
    func keep(_ login: Login, of tenant: TenantSlug) throws {
        let entry = Entry(login.server, tenant, key: login.key)
        try file.locked {
            try write([entry] + entries().filter { $0.server != entry.server || $0.tenant != tenant })
        }
    }

    /// Deletes the keys of the named server and tenant. If they are not named, all keys.
    /// - Returns: The number of deleted keys.
    func forget(at server: ServerURL?, of tenant: TenantSlug?) throws -> Int {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try file.locked {
            let all = try entries()
            let rest = all.filter {
                !(server == nil || $0.server == server) || !(tenant == nil || $0.tenant == tenant)
            }
            if rest.count < all.count { try write(rest) }
            return all.count - rest.count
        }
    }

    private func entries() throws -> [Entry] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let bytes = try file.bytes()
        do {
            var fields = try JSONObjectReader(try JSONValue(parsing: bytes))
            return try fields.requiredArray("logins").map { try Entry($0) }
        } catch {
            throw CommandError.unreadableFile(path)
        }
    }

    private func write(_ entries: [Entry]) throws {
        let object: JSONObject = ["logins": .array(entries.map { .object($0.json) })]
        try file.replace(by: Array((JSONValue.object(object).prettyPrinted() + "\n").utf8))
    }
}
