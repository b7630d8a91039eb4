import Administration
public import ArgumentParser
import Codes
import Formats
import Foundation
public import Invocation
import Lookups
import Persistence
import Platform
import PostgreSQL
import Tenancy

extension CodeCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract:
                "Export URLs for App Clip Codes, or QR codes.",
            discussion: """
                Lists one code for each advanced experience and each short demo link. With --locations it lists one \
                for each location, with a URL of the template. If a URL cannot be in a code, or leads to another \
                location than its own, the command names the row and writes nothing. If a URL is too long by its \
                estimated size, the command warns; with --strict it writes nothing.

                --format generator is for Apple's generator. --format app-store-connect lists one URL a line for one \
                advanced experience, which each URL must match [Apple]: name it with --experience if there are \
                several. --format print is for a printing service. It takes at most 10,000 codes in a file [Apple]; \
                more are written to numbered files: codes-0001.csv, codes-0002.csv and so on for --output codes.csv. \
                Existing numbered files are never replaced.

                --format qr makes QR codes: a new folder with one SVG file for each experience of any kind, or for \
                each location. With --sheet it makes one page of HTML to print and cut. A QR code holds at most 331 \
                bytes.

                Example: doorstep code export --format generator --output codes.csv
                """)

        enum Format: String, ExpressibleByArgument, CaseIterable {
            case generator
            case print
            case appStoreConnect = "app-store-connect"
            case qr
        }

        enum Subject: EnumerableFlag {
            case experiences
            case locations
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var file: ExportFile
        @Option(
            help:
                """
                Format of the list: for Apple's generator, App Store Connect or a printing service; or qr for QR \
                codes.
                """
        )
        var format: Format
        @Flag(help: "Write one page of QR codes with names and URLs, instead of a folder.") var sheet =
            false
        @Flag(help: "Make codes for experiences or for locations.") var subject = Subject.experiences
        @Option(help: "Only codes of the experience with this URL; each code's URL must match it.")
        var experience: String?
        @Option(help: "Only codes of the clip with this bundle ID.") var clip: BundleID?
        @Option(
            help: "URL template for locations, such as https://appclip.example.com/shop/{identifier}.")
        var template: CodeTemplate?
        @Option(
            name: .customLong("color-index"),
            help: "Color pair of the generator, 0 to 17. (default: 1, black on white)")
        var colorIndex: Int?
        @Option(
            name: .customLong("color-column"),
            help: ArgumentHelp(
                """
                Column of the locations with each code's colors: 0 to 17, FOREGROUND/BACKGROUND, or empty.
                """,
                valueName: "name"))
        var colorColumn: String?
        @Option(help: "Background color, for the generator. (default: FFFFFF)")
        var background: GeneratorBatchFile.Color?
        @Option(help: "Foreground color, for the generator. (default: 000000)")
        var foreground: GeneratorBatchFile.Color?
        @Option(help: "Type of the codes, for the generator.")
        var type = GeneratorBatchFile.CodeType.camera
        @Option(
            name: .customLong("host-bits"),
            help: ArgumentHelp(
                "Measured size of the template's host, 13 to 101 bits: see 'doorstep code measure-host'.",
                valueName: "bits"))
        var hostBits: Int?
        @Flag(help: "Write nothing if a URL is too long for an App Clip Code.") var strict = false
        @Option(help: "Draw the codes with or without the App Clip badge, for the generator.")
        var logo = GeneratorBatchFile.Logo.badge

        func validate() throws {
            guard format == .qr || !sheet else {
                throw ValidationError("--sheet requires --format qr")
            }
            guard format != .qr || sheet || file.output != "-" else {
                throw ValidationError("--format qr writes a folder: name it by --output, or add --sheet")
            }
            guard (template != nil) == (subject == .locations) else {
                throw ValidationError("--locations and --template require each other")
            }
            let hasFreeColors = background != nil || foreground != nil
            guard format == .generator || !hasFreeColors && colorIndex == nil && colorColumn == nil else {
                throw ValidationError("colors require --format generator")
            }
            guard format != .qr || !strict && hostBits == nil else {
                throw ValidationError("--strict and --host-bits exclude --format qr")
            }
            guard hostBits == nil || subject == .locations else {
                throw ValidationError("--host-bits requires --locations")
            }
            guard hostBits.map(HostMeasurement.hostSizes.contains) != false else {
                throw ValidationError("--host-bits must be between 13 and 101")
            }
            guard colorIndex == nil || !hasFreeColors else {
                throw ValidationError("--color-index excludes --foreground and --background")
            }
            guard colorIndex.map((0...17).contains) != false else {
                throw ValidationError("--color-index must be from 0 to 17")
            }
            guard colorColumn == nil || subject == .locations else {
                throw ValidationError("--color-column requires --locations")
            }
        }

        func run() async throws {
            let list = try await tenant.withPool { pool, store, tenant in
                let table = try await pool.tenantTable(of: tenant.id, trusting: .everything)
                return try await store.withCatalogue(of: tenant.slug) { catalogue in
                    var list = CodeList(table, format == .qr ? .qr : .appClip, try scope(in: table))
                    if let template {
                        if let colorColumn,
                            try await !catalogue.furtherColumns(of: LocationRecord.self).contains(colorColumn)
                        {
                            throw CommandError.invalidOption(
                                "--color-column", "no location has such a column")
                        }
                        try await catalogue.each(LocationRecord.self) { location in
                            let colors = colorColumn.flatMap { location.furtherFields[$0]?.stringValue }
                            list.append(
                                location.identifier, name: location.name.text, by: template,
                                hostBits: hostBits, colors: colors ?? "")
                        }
                    } else {
                        try await catalogue.each(ExperienceRecord.self) { list.append($0.experience) }
                    }
                    return list
                }
            }
            let rows = try list.checkedRows(isStrict: strict, problems)
            if format != .qr { list.warnOfSizes(of: rows) }
            switch format {
            case .print:
                try await write(PrintMappingFile.files(of: rows.map(\.names)))
            case .appStoreConnect:
                try await write(AppStoreConnectFile(rows.map(\.names.url)).csv)
            case .generator:
                try await write(batch(of: rows).csv)
            case .qr where sheet:
                try await file.writing { sink in
                    try QRSheet.write(rows, to: sink) { row in
                        QRSheet.Code(
                            symbol: try QRSymbol(row.names.url.text), label: row.label,
                            url: row.names.url.text)
                    }
                }
            case .qr:
                try writeImages(of: rows)
            }
            if format != .print || rows.count <= PrintMappingFile.maximumRows {
                file.note(rows.count, "code")
            }
        }

        private func scope(in table: TenantTable) throws -> CodeScope {
            let experience = try experience.map { text in
                do throws(URLPrefixError) { return try URLPrefix(text) } catch {
                    throw CommandError.invalidOption("--experience", "\(error)")
                }
            }
            return format == .appStoreConnect
                ? try .forAppStoreConnect(experience: experience, clip: clip, in: table)
                : try CodeScope(experience: experience, clip: clip, in: table)
        }

        private func problems(of rows: [PrintMappingFile.Row]) -> [CodeFileError] {
            switch format {
            case .print, .generator:
                PrintMappingFile.problems(of: rows)
            case .appStoreConnect:
                AppStoreConnectFile.problems(of: rows.map(\.url))
            case .qr:
                // These formats are files, too, but they may contain URLs that do not fit into an App Clip Code.
                PrintMappingFile.problems(of: rows).filter {
                    if case .unfitURL = $0 { false } else { true }
                }
            }
        }

        /// Writes one file with the given name, or several with numbers.
        private func write(_ files: [PrintMappingFile]) async throws {
            if files.count == 1 { return try await write(files[0].csv) }
            try file.writeNumbered(files.lazy.map { Array($0.csv.utf8) })
            let count = files.reduce(0) { $0 + $1.rows.count }
            file.note("\(count) codes in \(file.numbered(1)) to \(file.numbered(files.count))")
        }

        private func write(_ csv: String) async throws {
            try await file.writing { try $0(Array(csv.utf8)) }
        }

        /// Writes a folder of SVG images, all or none.
        private func writeImages(of rows: [CodeList.Row]) throws {
            do {
                var folder = try UnfinishedFolder(for: file.output)
                for row in rows {
                    try folder.write(QRSymbol(row.names.url.text).svg.utf8, to: row.names.fileName)
                }
                try folder.putInPlace()
            } catch let error as POSIXError where [.ENOTEMPTY, .EEXIST, .ENOTDIR].contains(error.code) {
                throw CommandError.fileExists(file.output)
            } catch {
                throw CommandError.unwritableFile(file.output)
            }
        }

        private func batch(of rows: [CodeList.Row]) throws(CodeFileError) -> GeneratorBatchFile {
            let colors =
                try colorIndex.map { index throws(CodeFileError) in
                    try GeneratorBatchFile.Colors(index: index)
                }
                ?? GeneratorBatchFile.Colors(
                    foreground: foreground ?? .black, background: background ?? .white)
            let batch = try GeneratorBatchFile(
                rows.map { row in
                    GeneratorBatchFile.Row(
                        fileName: row.names.fileName, url: row.names.url, colors: row.colors ?? colors,
                        type: type, logo: logo)
                })
            warn(of: batch)
            return batch
        }

        /// Prints the number of codes of which it is unknown whether they can be scanned.
        private func warn(of batch: GeneratorBatchFile) {
            let count = batch.rows.count { $0.colors.contrast == .unknown }
            guard count > 0 else { return }
            FileHandle.standardError.write(
                Data(
                    """
                    The contrast of \(count) \(count == 1 ? "code" : "codes") is unknown: only Apple's generator knows \
                    which colors are too close.

                    """.utf8))
        }
    }
}

/// A URL in which `{identifier}` is replaced by a location's identifier.
struct CodeTemplate: ExpressibleByArgument {
    private let text: String

    private static let placeholder = "{identifier}"

    init?(argument: String) {
        guard argument.contains(Self.placeholder), (try? Self.url(argument, "1")) != nil else { return nil }
        text = argument
    }

    func url(
        for identifier: LocationIdentifier, hostBits: Int?
    ) throws(InvocationURLError) -> AppClipCodeURL {
        try Self.url(text, identifier.percentEncoded, hostBits: hostBits)
    }

    private static func url(
        _ text: String, _ value: String, hostBits: Int? = nil
    ) throws(InvocationURLError) -> AppClipCodeURL {
        try AppClipCodeURL(text.replacing(placeholder, with: value), hostBits: hostBits)
    }
}

extension GeneratorBatchFile.Color: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }

    public var defaultValueDescription: String { text }
}

extension GeneratorBatchFile.CodeType: ExpressibleByArgument {}
extension GeneratorBatchFile.Logo: ExpressibleByArgument {}
