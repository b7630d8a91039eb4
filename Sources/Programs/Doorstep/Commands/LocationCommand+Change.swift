import Administration
import ArgumentParser
import Cards
import Formats
import Geodesy
import Invocation
import Lookups
import ServerClient
import Tenancy

extension LocationCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a location.",
            discussion: """
                Example: doorstep location create store-42 --name 'Donuts' --latitude 37.33 --longitude -122.01 --radius \
                100
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier
        @OptionGroup var fields: NewItemOptions<LocationRecord>
        @Option(
            help: ArgumentHelp(
                "Metadata to store with the location; can be repeated.", valueName: "name=value"))
        var metadata: [MetadataEntry] = []
        @Option(
            help: ArgumentHelp("Detail that lookups return; can be repeated.", valueName: "name=text"))
        var detail: [NamedText] = []
        @OptionGroup var card: CardOptions

        func run() async throws {
            var members = fields.members
            members["metadata"] = metadata.map(\.entry).members
            members["details"] = detail.members
            var record = try LocationRecord.read(members, as: identifier)
            record.card = try await card.patch()(Card())
            try await tenant.withItems(LocationRecord.self) { [record] in try await $0.create(record) }
            output.print(record.json, line: "Created location \(identifier)")
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change a location; omitted options keep their values.",
            discussion: "Example: doorstep location update store-42 --radius 100")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier
        @OptionGroup var fields: ItemChangeOptions<LocationRecord>
        @Option(
            help: ArgumentHelp(
                "Metadata to store with the location; without a value it is removed; can be repeated.",
                valueName: "name=value"))
        var metadata: [MetadataEntry] = []
        @Option(
            help: ArgumentHelp(
                "Detail that lookups return; without a text it is removed; can be repeated.",
                valueName: "name=text"))
        var detail: [NamedText] = []
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(!fields.patch.isEmpty, !metadata.isEmpty, !detail.isEmpty, card.isGiven)
        }

        func run() async throws {
            var patch = fields.patch
            if !metadata.isEmpty { patch["metadata"] = .object(metadata.map(\.entry).patch) }
            if !detail.isEmpty { patch["details"] = .object(detail.patch) }
            let cardPatch = try await card.patch()
            let record = try await tenant.withItems(LocationRecord.self) { [patch] locations in
                try await locations.update(identifier) { record in
                    var changed = try record.patched(by: patch)
                    changed.card = try cardPatch(record.card)
                    return changed
                }
            }
            output.print(record.json, line: "Updated location \(identifier)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a location that no experience is bound to.",
            discussion: "Example: doorstep location delete store-42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier

        func run() async throws {
            let counts = try await tenant.withItems(LocationRecord.self) {
                try await $0.delete(identifier, cascade: deletion.cascade)
            }
            output.printDeletion(of: "location", identifier.text, counts)
        }
    }
}

/// `phone=123`: a name and its text; an empty text removes it.
struct NamedText: ExpressibleByArgument {
    let name: String
    private let text: String

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex, !argument.utf8.contains(0)
        else { return nil }
        name = String(argument[..<sign])
        text = String(argument[argument.index(after: sign)...])
    }

    fileprivate var value: JSONValue { text.isEmpty ? .null : .string(text) }
}

extension [NamedText] {
    /// The texts by name, as a merge patch.
    fileprivate var patch: JSONObject { reduce(into: [:]) { $0[$1.name] = $1.value } }

    /// The texts by name.
    fileprivate var members: JSONValue { JSONValue.object([:]).merging(.object(patch)) }
}

/// `phone=123`: a column of an import, and its value.
struct MetadataEntry: ExpressibleByArgument {
    let entry: NamedText

    init?(argument: String) {
        // An import would read such a name as a field of the location or as a detail.
        guard let entry = NamedText(argument: argument), LocationRecord.isMetadata(entry.name) else {
            return nil
        }
        self.entry = entry
    }
}
