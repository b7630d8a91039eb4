import Administration
import ArgumentParser
import Cards
import Invocation
import JSON
import Tenancy

extension ExperienceCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an experience: a URL for an App Clip.",
            discussion: """
                Example: doorstep experience create --clip com.example.MyApp.Clip --url \
                https://appclip.example.com/shop/42 --location store-42
                """, aliases: ["add"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Bundle ID of the clip.") var clip: BundleID
        @Option(help: "URL of the experience, such as https://example.com/menu.") var url: String
        @Option(help: "Kind of the experience at Apple.") var kind = ExperienceKind.advanced
        @OptionGroup var binding: BindingOptions
        @Option(help: "Title of the card, at most 30 characters.") var title: String?
        @Option(help: "Subtitle of the card, at most 56 characters.") var subtitle: String?
        @OptionGroup var card: CardOptions

        func run() async throws {
            let record = try ExperienceRecord(
                Experience(
                    url: URLPrefix(url), kind: kind, clip: clip, binding: binding.given() ?? .unbound),
                title: title, subtitle: subtitle, card: await card.patch()(Card()))
            try await tenant.withItems(ExperienceRecord.self) { try await $0.create(record) }
            output.print(
                record.json, line: "Created \(kind.rawValue) experience \(record.experience.url)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an experience.",
            discussion: "Example: doorstep experience show https://appclip.example.com/shop/42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName

        func run() async throws {
            let id = try experience.id()
            let record = try await tenant.withItems(ExperienceRecord.self) { try await $0.show(id) }
            output.print(record.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change an experience; omitted options keep their values.",
            discussion: """
                Setting a location removes the identifier rule, and setting a rule removes the location.

                Example: doorstep experience update https://appclip.example.com/shop/42 --title 'Order a donut'
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName
        @Option(help: "Bundle ID of the clip.") var clip: BundleID?
        @OptionGroup var binding: BindingOptions
        @Flag(help: "Remove the location.") var unbound = false
        @Option(help: "Title of the card, at most 30 characters; empty for none.") var title: String?
        @Option(help: "Subtitle of the card, at most 56 characters; empty for none.") var subtitle: String?
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(
                clip != nil, binding.isGiven, unbound, title != nil, subtitle != nil, card.isGiven)
            guard !(unbound && binding.isGiven) else {
                throw ValidationError("--unbound excludes --location and --identifier-rule")
            }
        }

        func run() async throws {
            let id = try experience.id()
            let given: LocationBinding? = try unbound ? .unbound : binding.given()
            let patch = try await card.patch()
            let record = try await tenant.withItems(ExperienceRecord.self) { experiences in
                try await experiences.update(id) { record in
                    let old = record.experience
                    return try ExperienceRecord(
                        Experience(
                            url: old.url, kind: old.kind, clip: clip ?? old.clip,
                            binding: given ?? old.binding),
                        title: title.given(or: record.title), subtitle: subtitle.given(or: record.subtitle),
                        card: patch(record.card))
                }
            }
            output.print(
                record.json,
                line: "Updated \(experience.kind.rawValue) experience \(record.experience.url)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
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

/// Which experience a command is about.
struct ExperienceName: ParsableArguments {
    @Argument(help: "URL of the experience.") var url: String
    @Option(help: "Kind of the experience at Apple.") var kind = ExperienceKind.advanced

    func id() throws(URLPrefixError) -> ExperienceID { ExperienceID(kind, try URLPrefix(url)) }
}

/// What leads from an experience to its location.
struct BindingOptions: ParsableArguments {
    @Option(help: "Identifier of the location that the experience leads to.") var location: String?
    @Option(
        name: .customLong("identifier-rule"),
        help:
            """
            Rule that finds the location in the URL: path:N, query:NAME, hash:NAME or coordinates:LAT,LON[,RADIUS].
            """
    )
    var identifierRule: String?

    var isGiven: Bool { location != nil || identifierRule != nil }

    /// Nil when neither is named.
    func given() throws(RowRefusal) -> LocationBinding? {
        guard isGiven else { return nil }
        return try LocationBinding(location: location, rule: identifierRule)
    }
}
