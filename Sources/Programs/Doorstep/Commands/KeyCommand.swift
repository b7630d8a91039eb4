import Administration
import ArgumentParser
import Foundation
import Invocation
import JSON
import Persistence
import ServerClient
import Tenancy

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "A tenant's API keys.",
        subcommands: [Create.self, List.self, Show.self, Update.self, Delete.self, Rotate.self])

    fileprivate static let columns = [
        "id", "kind", "scopes", "locations", "hint", "status", "createdAt", "expiresAt", "revokedAt",
        "lastUsedOn",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key and show it, this once.",
            discussion: """
                A publishable key may ship in an app and reaches lookups, confirmations and the registration of \
                instances; a secret key stays on servers, composes and sends notifications too, and manages where that is \
                named.

                Of the scopes, lookup, confirm and register are for keys of both kinds; compose, notify, read, manage and \
                manage_keys for secret keys only, of which the last three must be named.

                A secret key that is restricted to locations answers for what leads to one of these and for nothing else, and \
                neither registers instances nor manages anything. The locations must be there; a key keeps the identifier of one that is deleted later, and may \
                do nothing for it while it is gone.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "What the key is for.") var kind: KeyKind
        @Option(
            name: .customLong("scope"),
            help: """
                What the key may do, of what its kind may; can be repeated. (default: all of that but read, manage and \
                manage_keys, and register where it is restricted)
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
            abstract: "List a tenant's keys, without the keys themselves.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            // The API lists them by ID.
            let keys = try await tenant.withAPI { try await $0.list("/v1/keys") }.sorted {
                ($0["createdAt"]?.stringValue ?? "") < ($1["createdAt"]?.stringValue ?? "")
            }
            output.print(keys, columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a key, without the key itself.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The key's ID.") var id: KeyID

        func run() async throws {
            let key = try await tenant.withAPI { try await $0.read("/v1/keys/\(id)") }
            output.print(key, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a key that is active expire at another time, or never.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The key's ID.") var id: KeyID
        @OptionGroup var expiry: ExpiryOptions
        @Flag(name: .customLong("no-expiry"), help: "The key does not expire.") var neverExpires = false

        func validate() throws {
            try requireChange(expiry.days != nil, neverExpires)
            guard expiry.days == nil || !neverExpires else {
                throw ValidationError("--expires-in-days and --no-expiry exclude each other")
            }
        }

        func run() async throws {
            let expiresAt = expiry.date(from: Date())
            let key = try await tenant.withAPI { api in
                try await api.patch(
                    "/v1/keys/\(id)", ["expiresAt": expiresAt.map { JSONValue($0) } ?? .null])
            }
            output.print(key, line: "Updated key \(id)")
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key in place of another, which stays good for a while.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The old key's ID.") var id: KeyID
        @Option(help: "For how many hours both keys are good.") var overlap = APIKey.usualOverlap

        func validate() throws {
            guard APIKey.overlaps.contains(overlap) else {
                throw ValidationError("--overlap is from 0 to 8760 hours")
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
            abstract: "Refuse a key from now on; what is known of it stays.", aliases: ["revoke"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The key's ID.") var id: KeyID

        func run() async throws {
            let key = try await tenant.withAPI { api in
                // Read first, because the key may be the one that authenticates the requests.
                var key = try await api.read("/v1/keys/\(id)")
                try await api.delete("/v1/keys/\(id)")
                key["status"] = .string(KeyRecord.Status.revoked.rawValue)
                if key["revokedAt"] == .null { key["revokedAt"] = JSONValue(Date()) }
                return key
            }
            output.print(key, line: "Revoked key \(id)")
        }
    }
}

/// When a key expires.
struct ExpiryOptions: ParsableArguments {
    @Option(name: .customLong("expires-in-days"), help: "After how many days the key is refused.")
    var days: Double?

    func validate() throws {
        if let days, !(days > 0 && APIKey.lifetimes.contains(days)) {
            throw ValidationError("--expires-in-days is more than 0 and at most 36500")
        }
    }

    /// Nil for never.
    func date(from now: Date) -> Date? { days.map { now.addingTimeInterval($0 * 86_400) } }
}

extension JSONObject {
    /// What is printed of a key when it is made: the only time that it is.
    fileprivate var ofNewKey: JSONObject {
        ["id", "kind", "key", "expiresAt"].reduce(into: [:]) { $0[$1] = self[$1] }
    }
}
