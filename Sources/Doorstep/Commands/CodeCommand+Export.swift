import Administration
public import ArgumentParser
import Foundation
public import Invocation
import Persistence
import PostgreSQL
import Tenancy

extension CodeCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the list from which a tenant's App Clip Codes are made, or printed.",
            discussion: """
                For Apple's generator (--format generator) or for a printing service (--format print), at most 10,000 \
                codes [Apple]: one for each advanced experience, or one for each location with a URL of the template's. \
                A URL that cannot be in a code, or that leads to another location than its own, is refused by its row; \
                then nothing is written. Whether the others fit is known to Apple's generator alone.
                """)

        enum Format: String, ExpressibleByArgument, CaseIterable {
            case generator
            case print
        }

        enum Subject: EnumerableFlag {
            case experiences
            case locations
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var file: ExportFile
        @Option(help: "Who reads the list: Apple's generator, or a printing service.") var format: Format
        @Flag(help: "What codes are made for.") var subject = Subject.experiences
        @Option(
            help: "The locations' URL, such as https://appclip.example.com/shop/{identifier}.")
        var template: CodeTemplate?
        @Option(help: "The codes' background, for the generator.")
        var background = GeneratorBatchFile.Color.white
        @Option(help: "The codes' foreground, for the generator.")
        var foreground = GeneratorBatchFile.Color.black
        @Option(help: "How the codes are read, for the generator.")
        var type = GeneratorBatchFile.CodeType.camera
        @Option(help: "Whether the codes are drawn in the App Clip badge, for the generator.")
        var logo = GeneratorBatchFile.Logo.badge

        func validate() throws {
            guard (template != nil) == (subject == .locations) else {
                throw ValidationError("--locations and --template go together")
            }
        }

        func run() async throws {
            let list = try await tenant.withPool { pool, store, tenant in
                let table = try await pool.routingTable(of: tenant.id)
                return try await store.withCatalogue(of: tenant.slug) { catalogue in
                    var list = CodeList(DirectoryResolver(table: table, tenant: tenant.id))
                    if let template {
                        try await catalogue.eachLocation { list.append($0.identifier, by: template) }
                    } else {
                        try await catalogue.eachExperience { list.append($0.experience) }
                    }
                    return list
                }
            }
            let rows = try list.checkedRows()
            let csv = try text(of: rows)
            try await file.writing { try $0(Array(csv.utf8)) }
            file.note(rows.count, "code")
        }

        private func text(of rows: [PrintMappingFile.Row]) throws(CodeFileError) -> String {
            switch format {
            case .print:
                return try PrintMappingFile(rows).csv
            case .generator:
                return try GeneratorBatchFile(
                    rows.map { row in
                        GeneratorBatchFile.Row(
                            fileName: row.fileName, url: row.url, background: background,
                            foreground: foreground,
                            type: type, logo: logo)
                    }
                ).csv
            }
        }
    }
}

/// A URL in which `{identifier}` stands for a location's.
struct CodeTemplate: ExpressibleByArgument {
    private let text: String

    private static let placeholder = "{identifier}"

    init?(argument: String) {
        guard argument.contains(Self.placeholder), (try? Self.url(argument, "1")) != nil else { return nil }
        text = argument
    }

    func url(for identifier: LocationIdentifier) throws(InvocationURLError) -> AppClipCodeURL {
        try Self.url(text, identifier.percentEncoded)
    }

    private static func url(_ text: String, _ value: String) throws(InvocationURLError) -> AppClipCodeURL {
        try AppClipCodeURL(text.replacing(placeholder, with: value))
    }
}

extension GeneratorBatchFile.Color: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }

    public var defaultValueDescription: String { text }
}

extension GeneratorBatchFile.CodeType: ExpressibleByArgument {}
extension GeneratorBatchFile.Logo: ExpressibleByArgument {}
