import Administration
import ArgumentParser
import Cards
import Formats
import Invocation
import ServerClient
import Tenancy

extension ExperienceCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an experience: a URL for an App Clip.",
            discussion: """
                Example: doorstep experience create --clip com.example.MyApp.Clip --url \
                https://appclip.example.com/shop/42 --location store-42
                """, aliases: ["add"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "URL of the experience, such as https://example.com/menu.") var url: String
        @Option(help: "Kind of the experience at Apple.") var kind = ExperienceKind.advanced
        @OptionGroup var fields: NewItemOptions<ExperienceRecord>
        @OptionGroup var card: CardOptions

        func run() async throws {
            let id = ExperienceID(kind, try URLPrefix(url))
            var record = try ExperienceRecord.read(fields.members, as: id)
            record.card = try await card.patch()(Card())
            try await tenant.withItems(ExperienceRecord.self) { [record] in try await $0.create(record) }
            output.print(
                record.json, line: "Created \(kind.rawValue) experience \(record.experience.url)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show an experience.",
            discussion: "Example: doorstep experience show https://appclip.example.com/shop/42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName

        func run() async throws {
            let id = try experience.id()
            let record = try await tenant.withItems(ExperienceRecord.self) { try await $0.show(id) }
            output.print(record.json, columns: ExperienceRecord.tableColumns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change an experience; omitted options keep their values.",
            discussion: """
                Setting a location removes the identifier rule, and setting a rule removes the location.

                Example: doorstep experience update https://appclip.example.com/shop/42 --title 'Order a donut'
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName
        @OptionGroup var fields: ItemChangeOptions<ExperienceRecord>
        @Flag(help: "Remove the location and the identifier rule.") var unbound = false
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(!fields.patch.isEmpty, unbound, card.isGiven)
            guard !unbound || fields.patch["location"] == nil && fields.patch["identifierRule"] == nil else {
                throw ValidationError("--unbound excludes --location and --identifier-rule")
            }
        }

        func run() async throws {
            let id = try experience.id()
            var patch = fields.patch
            if unbound { (patch["location"], patch["identifierRule"]) = (.null, .null) }
            let cardPatch = try await card.patch()
            let record = try await tenant.withItems(ExperienceRecord.self) { [patch] experiences in
                try await experiences.update(id) { record in
                    var changed = try record.patched(by: patch)
                    changed.card = try cardPatch(record.card)
                    return changed
                }
            }
            output.print(
                record.json,
                line: "Updated \(experience.kind.rawValue) experience \(record.experience.url)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete an experience.",
            discussion: """
                Instances that were launched by the experience keep their launches.

                Example: doorstep experience delete https://appclip.example.com/shop/42
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName

        func run() async throws {
            let id = try experience.id()
            _ = try await tenant.withItems(ExperienceRecord.self) { try await $0.delete(id) }
            output.printDeletion(of: "\(id.kind.rawValue) experience", id.url.canonical)
        }
    }
}

/// The experience that a command changes.
struct ExperienceName: ParsableArguments {
    @Argument(help: "URL of the experience.") var url: String
    @Option(help: "Kind of the experience at Apple.") var kind = ExperienceKind.advanced

    func id() throws(URLPrefixError) -> ExperienceID { ExperienceID(kind, try URLPrefix(url)) }
}
