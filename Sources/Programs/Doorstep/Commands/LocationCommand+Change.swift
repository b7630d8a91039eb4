import Administration
import ArgumentParser
import Cards
import Geodesy
import Invocation
import JSON
import Lookups
import Tenancy

extension LocationCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a location.",
            discussion: """
                Example: doorstep location create store-42 --name 'Donuts' --latitude 37.33 --longitude -122.01 --radius \
                100
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier
        @Option(help: "Name for people.") var name: String
        @Option(parsing: .unconditional, help: "Centre, in degrees.") var latitude: Double
        @Option(parsing: .unconditional, help: "Centre, in degrees.") var longitude: Double
        @Option(help: "Radius in metres, at most 500.") var radius: Double
        @Option(
            help: ArgumentHelp(
                "Metadata to store with the location; can be repeated.", valueName: "name=value"))
        var metadata: [MetadataEntry] = []
        @Option(
            help: ArgumentHelp("Detail that lookups return; can be repeated.", valueName: "name=text"))
        var detail: [NamedText] = []
        @OptionGroup var card: CardOptions

        func run() async throws {
            try identifier.text.requireVisibleEdges(in: "identifier")
            let record = try LocationRecord(
                identifier: identifier, name: DisplayName(name),
                region: CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)),
                metadata: metadata.map(\.entry).merged(into: [:]),
                details: LocationDetails(detail.merged(into: [:])), card: await card.patch()(Card()))
            try await tenant.withItems(\.locations) { try await $0.create(record) }
            output.print(record.json, line: "Created location \(identifier)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a location.",
            discussion: "Example: doorstep location show store-42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier

        func run() async throws {
            let record = try await tenant.withItems(\.locations) { try await $0.show(identifier) }
            output.print(record.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a location; omitted options keep their values.",
            discussion: "Example: doorstep location update store-42 --radius 100")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier
        @Option(help: "Name for people.") var name: String?
        @Option(parsing: .unconditional, help: "Centre, in degrees.") var latitude: Double?
        @Option(parsing: .unconditional, help: "Centre, in degrees.") var longitude: Double?
        @Option(help: "Radius in metres, at most 500.") var radius: Double?
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
            try requireChange(
                name != nil, latitude != nil, longitude != nil, radius != nil, !metadata.isEmpty,
                !detail.isEmpty, card.isGiven)
        }

        func run() async throws {
            let patch = try await card.patch()
            let record = try await tenant.withItems(\.locations) { locations in
                try await locations.update(identifier) { record in
                    let (center, radius) = (record.region.center, radius.map { Distance(meters: $0) })
                    var changed = record
                    changed.name = try name.map { try DisplayName($0) } ?? record.name
                    changed.region = try CircularRegion(
                        center: Coordinate(
                            latitude: latitude ?? center.latitude, longitude: longitude ?? center.longitude),
                        radius: radius ?? record.region.radius)
                    changed.metadata = metadata.map(\.entry).merged(into: record.metadata)
                    changed.details = try LocationDetails(detail.merged(into: record.details.texts))
                    changed.card = try patch(record.card)
                    return changed
                }
            }
            output.print(record.json, line: "Updated location \(identifier)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a location that no experience is bound to.",
            discussion: "Example: doorstep location delete store-42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier

        func run() async throws {
            let counts = try await tenant.withItems(\.locations) {
                try await $0.delete(identifier, cascade: deletion.cascade)
            }
            output.printDeletion(of: "location", identifier.text, counts)
        }
    }
}

/// `phone=123`: a name, and the text that is kept by it; none where nothing is to be.
struct NamedText: ExpressibleByArgument {
    let name: String
    private let text: String

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex, !argument.utf8.contains(0)
        else { return nil }
        name = String(argument[..<sign])
        text = String(argument[argument.index(after: sign)...])
    }

    fileprivate func merge(into members: inout JSONObject) {
        members[name] = text.isEmpty ? nil : .string(text)
    }
}

extension [NamedText] {
    fileprivate func merged(into members: JSONObject) -> JSONObject {
        reduce(into: members) { $1.merge(into: &$0) }
    }
}

/// `phone=123`: a column of an import's, and its value.
struct MetadataEntry: ExpressibleByArgument {
    let entry: NamedText

    init?(argument: String) {
        // An import would take another name for the location's own or for a detail's.
        guard let entry = NamedText(argument: argument), LocationRecord.isMetadata(entry.name) else {
            return nil
        }
        self.entry = entry
    }
}
