import Administration
import ArgumentParser
import Cards
import Invocation
import JSON
import Tenancy

extension ExperienceCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register a URL for an App Clip.", aliases: ["add"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The clip's bundle ID.") var clip: BundleID
        @Option(help: "The experience's URL, such as https://example.com/menu.") var url: String
        @Option(help: "What the experience is registered as with Apple.") var kind = ExperienceKind.advanced
        @OptionGroup var binding: BindingOptions
        @Option(help: "The card's title, at most 30 characters.") var title: String?
        @Option(help: "The card's subtitle, at most 56 characters.") var subtitle: String?
        @OptionGroup var card: CardOptions

        func run() async throws {
            let record = try ExperienceRecord(
                Experience(
                    url: URLPrefix(url), kind: kind, clip: clip, binding: binding.given() ?? .unbound),
                title: title, subtitle: subtitle, card: await card.patch()(Card()))
            try await tenant.withItems(\.experiences) { try await $0.create(record) }
            output.print(
                record.json, line: "Created \(kind.rawValue) experience \(record.experience.url)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show an experience.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName

        func run() async throws {
            let id = try experience.id()
            let record = try await tenant.withItems(\.experiences) { try await $0.show(id) }
            output.print(record.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change an experience; what is not named stays.",
            discussion: "A location takes the place of an identifier rule, and the other way round.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName
        @Option(help: "The clip's bundle ID.") var clip: BundleID?
        @OptionGroup var binding: BindingOptions
        @Flag(help: "The experience is for no one location any more.") var unbound = false
        @Option(help: "The card's title, at most 30 characters; empty for none.") var title: String?
        @Option(help: "The card's subtitle, at most 56 characters; empty for none.") var subtitle: String?
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(
                clip != nil, binding.isGiven, unbound, title != nil, subtitle != nil, card.isGiven)
            guard !(unbound && binding.isGiven) else {
                throw ValidationError("--unbound goes with neither --location nor --identifier-rule")
            }
        }

        func run() async throws {
            let id = try experience.id()
            let given: LocationBinding? = try unbound ? .unbound : binding.given()
            let patch = try await card.patch()
            let record = try await tenant.withItems(\.experiences) { experiences in
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
            discussion: "What was launched by it stays what it is; it is launched by it no more.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var experience: ExperienceName

        func run() async throws {
            let id = try experience.id()
            _ = try await tenant.withItems(\.experiences) { try await $0.delete(id) }
            output.printDeletion(of: "\(id.kind.rawValue) experience", id.url.canonical)
        }
    }
}

/// Which experience a command is about.
struct ExperienceName: ParsableArguments {
    @Argument(help: "The experience's URL.") var url: String
    @Option(help: "What the experience is registered as with Apple.") var kind = ExperienceKind.advanced

    func id() throws(URLPrefixError) -> ExperienceID { ExperienceID(kind, try URLPrefix(url)) }
}

/// What leads from an experience to its location.
struct BindingOptions: ParsableArguments {
    @Option(help: "The one location that the experience leads to.") var location: String?
    @Option(
        name: .customLong("identifier-rule"),
        help:
            "Where the URL names the location: path:N, query:NAME, hash:NAME or coordinates:LAT,LON[,RADIUS]."
    )
    var identifierRule: String?

    var isGiven: Bool { location != nil || identifierRule != nil }

    /// Nil when neither is named.
    func given() throws(RowRefusal) -> LocationBinding? {
        guard isGiven else { return nil }
        return try LocationBinding(location: location, rule: identifierRule)
    }
}
