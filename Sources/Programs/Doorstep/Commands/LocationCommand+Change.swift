import Administration
import ArgumentParser
import Geodesy
import Invocation
import JSON
import Persistence
import Tenancy

extension LocationCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a location.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The location's identifier.") var identifier: LocationIdentifier
        @Option(help: "The name for people.") var name: String
        @Option(parsing: .unconditional, help: "Of the centre, in degrees.") var latitude: Double
        @Option(parsing: .unconditional, help: "Of the centre, in degrees.") var longitude: Double
        @Option(help: "In metres, at most 500.") var radius: Double
        @Option(
            help: ArgumentHelp("Something else to keep with it; can be repeated.", valueName: "name=value"))
        var metadata: [MetadataEntry] = []

        func run() async throws {
            let record = try LocationRecord(
                identifier: identifier, name: DisplayName(name),
                region: CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)),
                metadata: metadata.merged(into: [:]))
            try await tenant.withTenant { store, tenant in
                try await store.createLocation(record, of: tenant.id)
            }
            output.print(record.json, line: "Created location \(identifier)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a location.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The location's identifier.") var identifier: LocationIdentifier

        func run() async throws {
            let record = try await tenant.withTenant { store, tenant in
                try await store.location(identifier, of: tenant.id)
            }
            output.print(record.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a location; what is not named stays.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The location's identifier.") var identifier: LocationIdentifier
        @Option(help: "The name for people.") var name: String?
        @Option(parsing: .unconditional, help: "Of the centre, in degrees.") var latitude: Double?
        @Option(parsing: .unconditional, help: "Of the centre, in degrees.") var longitude: Double?
        @Option(help: "In metres, at most 500.") var radius: Double?
        @Option(
            help: ArgumentHelp(
                "Something else to keep with it, or without a value not to; can be repeated.",
                valueName: "name=value"))
        var metadata: [MetadataEntry] = []

        func validate() throws {
            try requireChange(
                name != nil, latitude != nil, longitude != nil, radius != nil, !metadata.isEmpty)
        }

        func run() async throws {
            let record = try await tenant.withTenant { store, tenant in
                try await store.updateLocation(identifier, of: tenant.id) { record in
                    let (center, radius) = (record.region.center, radius.map { Distance(meters: $0) })
                    return try LocationRecord(
                        identifier: identifier, name: name.map { try DisplayName($0) } ?? record.name,
                        region: CircularRegion(
                            center: Coordinate(
                                latitude: latitude ?? center.latitude,
                                longitude: longitude ?? center.longitude),
                            radius: radius ?? record.region.radius),
                        metadata: metadata.merged(into: record.metadata))
                }
            }
            output.print(record.json, line: "Updated location \(identifier)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a location that no experience is bound to.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "The location's identifier.") var identifier: LocationIdentifier

        func run() async throws {
            let counts = try await tenant.withTenant { store, tenant in
                try await store.deleteLocation(identifier, of: tenant.id, cascade: deletion.cascade)
            }
            output.printDeletion(of: "location", identifier.text, counts)
        }
    }
}

/// `phone=123`: a column of an import's, and its value.
struct MetadataEntry: ExpressibleByArgument {
    private let name: String
    private let value: String

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex, !argument.utf8.contains(0)
        else { return nil }
        name = String(argument[..<sign])
        // An import would take it for the location's own.
        guard !LocationRecord.requiredColumns.contains(name) else { return nil }
        value = String(argument[argument.index(after: sign)...])
    }

    fileprivate func merge(into metadata: inout JSONObject) {
        metadata[name] = value.isEmpty ? nil : .string(value)
    }
}

extension [MetadataEntry] {
    fileprivate func merged(into metadata: JSONObject) -> JSONObject {
        reduce(into: metadata) { $1.merge(into: &$0) }
    }
}
