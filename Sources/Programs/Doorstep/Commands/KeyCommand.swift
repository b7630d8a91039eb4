import Administration
import ArgumentParser
import Formats
import Foundation
import Invocation
import Persistence
import ServerClient
import Tenancy

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Manage a tenant's API keys.",
        discussion: "Example: doorstep key list",
        subcommands: [Create.self, List.self, Show.self, Update.self, Delete.self, Rotate.self])

    fileprivate static let columns = [
        "id", "name", "kind", "scopes", "locations", "hint", "status", "createdAt", "expiresAt", "revokedAt",
        "lastUsedOn",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a key, and show it once.",
            discussion: """
                A publishable key can ship in an app; it can look up, confirm and register instances. A secret key \
                stays on servers; it can also compose and send notifications.

                Both kinds can have the scopes lookup, confirm and register. Only secret keys can have compose, \
                notify, read, manage and manage_keys; the last three are never a default.

                A secret key can be restricted to existing locations. It then works only for URLs that lead to \
                these, and cannot register instances or manage. If a location is deleted, the key can do nothing \
                there. If you create a location with the same identifier again, the key works for it.

                Example: doorstep key create --kind secret --name 'Kiosk backend' --scope lookup --scope notify
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Kind of the key.") var kind: KeyKind
        @Option(help: "Purpose of the key. (default: no name)") var name: DisplayName?
        @Option(
            name: .customLong("scope"),
            help: """
                Scope of the key; can be repeated. (default: all scopes of the kind except read, manage and \
                manage_keys; for a key restricted to locations, also except register)
                """)
        var scopes: [Scope] = []
        @Option(
            name: .customLong("location"),
            help: ArgumentHelp(
                """
                The identifier of a location that the key is restricted to; can be repeated, for up to \
                \(KeyRecord.locationCounts.upperBound). (default: the key is not restricted)
                """, valueName: "identifier"))
        var locations: [LocationIdentifier] = []
        @OptionGroup var expiry: ExpiryOptions

        func validate() throws {
            if let refused = scopes.first(where: { !kind.scopes.contains($0) }) {
                throw ValidationError("a \(kind.rawValue) key cannot have the scope \(refused.rawValue)")
            }
            guard !locations.isEmpty else { return }
            guard kind == .secret else {
                throw ValidationError("a \(kind.rawValue) key cannot be restricted to locations")
            }
            if let refused = scopes.first(where: { !kind.scopesAtLocations.contains($0) }) {
                throw ValidationError(
                    "a key that is restricted to locations cannot have the scope \(refused.rawValue)")
            }
            guard Set(locations).count <= KeyRecord.locationCounts.upperBound else {
                throw ValidationError(
                    "a key is restricted to at most \(KeyRecord.locationCounts.upperBound) locations")
            }
        }

        func run() async throws {
            let expiresAt = expiry.date(from: Date())
            let shown = try await tenant.withAPI { try await $0.post("/v1/keys", asked(expiresAt)) }
            JSONValue.object(shown.ofNewKey).printPretty()
        }

        private func asked(_ expiresAt: Date?) -> JSONObject {
            var asked: JSONObject = ["kind": .string(kind.rawValue)]
            asked["name"] = name.map { .string($0.text) }
            if !scopes.isEmpty {
                asked["scopes"] = .array(Scopes(scopes.map(Scopes.init)).list.map { .string($0.rawValue) })
            }
            if !locations.isEmpty {
                asked["locations"] = .array(Set(locations).map(\.text).sorted().map(JSONValue.string))
            }
            asked["expiresAt"] = expiresAt.map { JSONValue($0) }
            return asked
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's keys without their secrets.",
            discussion: "Example: doorstep key list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            // The API sorts the keys by ID.
            let keys = try await tenant.withAPI { try await $0.list("/v1/keys") }.sorted {
                ($0["createdAt"]?.stringValue ?? "") < ($1["createdAt"]?.stringValue ?? "")
            }
            output.print(keys, columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a key without its secret.",
            discussion: "Example: doorstep key show KEY-ID")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Key ID.") var id: KeyID

        func run() async throws {
            let key = try await tenant.withAPI { try await $0.read("/v1/keys/\(id)") }
            output.print(key, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change an active key's name or expiry.",
            discussion: "Example: doorstep key update KEY-ID --expires-in-days 90")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Key ID.") var id: KeyID
        @Option(help: "Purpose of the key. An empty text removes the name.") var name: NewName?
        @OptionGroup var expiry: ExpiryOptions
        @Flag(name: .customLong("no-expiry"), help: "Remove the expiry.") var neverExpires = false

        func validate() throws {
            try requireChange(name != nil, expiry.days != nil, neverExpires)
            guard expiry.days == nil || !neverExpires else {
                throw ValidationError("--expires-in-days and --no-expiry exclude each other")
            }
        }

        func run() async throws {
            var patch: JSONObject = [:]
            patch["name"] = name?.json
            if let expiresAt = expiry.date(from: Date()) { patch["expiresAt"] = JSONValue(expiresAt) }
            if neverExpires { patch["expiresAt"] = .null }
            let change = patch
            let key = try await tenant.withAPI { try await $0.patch("/v1/keys/\(id)", change) }
            output.print(key, line: "Updated key \(id)")
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Create a key that replaces another; both work for a while.",
            discussion: "Example: doorstep key rotate KEY-ID --overlap 24")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "ID of the old key.") var id: KeyID
        @Option(help: "Hours in which both keys work.") var overlap = APIKey.usualOverlap

        func validate() throws {
            guard APIKey.overlaps.contains(overlap) else {
                throw ValidationError("--overlap must be from 0 to 8760 hours")
            }
        }

        func run() async throws {
            let shown = try await tenant.withAPI { api in
                try await api.post("/v1/keys/\(id)/rotate", ["overlapHours": JSONValue(finite: overlap)])
            }
            JSONValue.object(shown.ofNewKey).printPretty()
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Revoke a key; its record stays.",
            discussion: "Example: doorstep key delete KEY-ID", aliases: ["revoke"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Key ID.") var id: KeyID

        func run() async throws {
            let key = try await tenant.withAPI { api in
                // Reads the key first, because it may be the key that authenticates the requests.
                var key = try await api.read("/v1/keys/\(id)")
                try await api.delete("/v1/keys/\(id)")
                // A key that has revoked itself can read nothing more, so the time is unknown.
                if let revoked = try? await api.read("/v1/keys/\(id)") { return revoked }
                key["status"] = .string(KeyRecord.Status.revoked.rawValue)
                if key["revokedAt"] == .null { key["revokedAt"] = nil }
                return key
            }
            output.print(key, line: "Revoked key \(id)")
        }
    }
}

/// The expiry of a key.
struct ExpiryOptions: ParsableArguments {
    @Option(name: .customLong("expires-in-days"), help: "Days until the key expires.")
    var days: Double?

    func validate() throws {
        if let days, !(days > 0 && APIKey.lifetimes.contains(days)) {
            throw ValidationError("--expires-in-days must be more than 0 and at most 36500")
        }
    }

    /// Nil if the key never expires.
    func date(from now: Date) -> Date? { days.map { now.addingTimeInterval($0 * 86_400) } }
}

extension JSONObject {
    /// The output for a new key. No other output contains the key.
    fileprivate var ofNewKey: JSONObject {
        ["id", "kind", "key", "expiresAt"].reduce(into: [:]) { $0[$1] = self[$1] }
    }
}
