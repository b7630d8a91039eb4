import Administration
import Cards
import Formats
import Foundation
import Invocation
import Lookups
import Tenancy

/// A kind of item that people create, change and delete in the console. Its forms follow from the fields of the resource.
protocol EditableItem: WritableResource {
    /// The pages of the items.
    static var section: Page.Section { get }
    /// What an item is called in a sentence.
    static var noun: String { get }
    /// The command that manages the items.
    static var commandName: String { get }
    /// The key field that commands take as an argument; nil if `create` has an option for each key field.
    static var argument: String? { get }
    /// The relation of the items in the audit log.
    static var relation: String { get }
    /// The members of an item, for the command on the page that adds one.
    static var example: JSONObject { get }
    /// Hints that replace the documentation of fields; nil for none.
    static var hints: [String: String?] { get }
    /// Errors that replace those of the field's type, because they show an example.
    static var errors: [String: String] { get }

    static func store(in stores: CatalogueStores) -> (any CatalogueStore<Self>)?
    /// Corrects what a person entered in one input for several.
    static func correct(_ texts: inout [String: String])
    /// The values to choose from, by the names of inputs. An input without them takes any text.
    static func choices(
        in items: CatalogueStores, of tenant: TenantID
    ) async throws -> [String: [FormInput.Choice]]
    /// Whether the pages have a map.
    static var hasMap: Bool { get }

    /// Writes the map of the item.
    /// - Parameter changed: the item after the change under review.
    func map(for use: LocationPage.MapUse, changed: Self?, _ html: inout HTMLWriter)
    /// Returns what a change means for people, below the list of differences.
    func meaning(
        of changed: Self, _ request: ConsoleRequest, _ tenant: Tenant, in table: TenantTable?
    ) async throws -> (inout HTMLWriter) -> Void

    /// The item's name for people.
    var heading: String { get }
    /// The item as the commands `update` and `delete` name it, quoted for a shell.
    var commandArguments: String { get }
}

extension EditableItem {
    static var argument: String? { nil }
    static var hints: [String: String?] { [:] }
    static var errors: [String: String] { [:] }
    static func correct(_ texts: inout [String: String]) {}
    static var hasMap: Bool { false }
    func map(for use: LocationPage.MapUse, changed: Self?, _ html: inout HTMLWriter) {}
    func meaning(
        of changed: Self, _ request: ConsoleRequest, _ tenant: Tenant, in table: TenantTable?
    ) async throws -> (inout HTMLWriter) -> Void { { _ in } }
    var heading: String { Self.name(of: key) }
    var commandArguments: String { Self.name(of: key).shellQuoted }

    static func choices(
        in items: CatalogueStores, of tenant: TenantID
    ) async throws -> [String: [FormInput.Choice]] {
        field(named: "card") == nil ? [:] : try await images(in: items, of: tenant)
    }

    /// The images that a card can show, if they are few.
    static func images(
        in items: CatalogueStores, of tenant: TenantID
    ) async throws -> [String: [FormInput.Choice]] {
        let images = try await items.images.items(
            of: tenant, after: nil, limit: maximumChoices + 1, where: [:])
        guard images.count <= maximumChoices else { return [:] }
        let none = FormInput.Choice(value: "", title: images.isEmpty ? "no images yet" : "not set")
        return [
            "card.image": [none]
                + images.map { image in
                    FormInput.Choice(
                        value: image.key.description,
                        title: "\(image.key.description.prefix(12))…, \(image.format.rawValue)")
                }
        ]
    }
}

/// The maximum number of items in a list to choose from. With more, the person enters the name. [ours]
private let maximumChoices = 100

extension ExperienceRecord: EditableItem {
    static var section: Page.Section { .urls }
    static var relation: String { "experiences" }
    static var hints: [String: String?] {
        [
            "url":
                "The URL that codes and tags contain, or the beginning of such URLs: https, without a port or fragment.",
            "kind": "At Apple: advanced for a URL of its own card, default for the clip's default card.",
            "clip": nil,
            "location":
                "The identifier of the location to which the URL leads. Leave it empty if a rule reads it from the URL.",
            "identifierRule":
                "Reads the location's identifier from the URL: path:N, query:NAME, hash:NAME or coordinates:LAT,LON[,RADIUS].",
            "title": "On the card, at most 30 characters.",
            "subtitle": "On the card, at most 56 characters.",
        ]
    }

    static func store(in stores: CatalogueStores) -> (any CatalogueStore<Self>)? { stores.experiences }

    static func choices(
        in items: CatalogueStores, of tenant: TenantID
    ) async throws -> [String: [FormInput.Choice]] {
        let clips = try await items.clips.items(of: tenant, after: nil, limit: maximumChoices + 1, where: [:])
        var choices = try await images(in: items, of: tenant)
        if !clips.isEmpty, clips.count <= maximumChoices {
            choices["clip"] = clips.map { FormInput.Choice(value: $0.bundleID.text, title: $0.bundleID.text) }
        }
        return choices
    }

    var heading: String { experience.url.canonical }
    var commandArguments: String { "\(heading.shellQuoted) --kind \(experience.kind.rawValue)" }
}

extension Clip: EditableItem {
    static var section: Page.Section { .clips }
    static var noun: String { "App Clip" }
    static var commandName: String { "clip" }
    static var relation: String { "clips" }
    static var example: JSONObject {
        ["bundleID": "com.example.MyApp.Clip", "teamID": "ABCDE12345", "multiBusiness": false]
    }

    static func store(in stores: CatalogueStores) -> (any CatalogueStore<Self>)? { stores.clips }
}

extension ShortCode: EditableItem {
    static var section: Page.Section { .codes }
    static var argument: String? { "code" }
    static var relation: String { "short_codes" }
    static var hints: [String: String?] {
        [
            "code": "A rule hash:NAME reads the short code from a printed URL. It cannot be changed later.",
            "url": "Lookups use this URL instead of the printed one.",
        ]
    }

    static func store(in stores: CatalogueStores) -> (any CatalogueStore<Self>)? {
        stores.plainCollections.lazy.compactMap { $0 as? any CatalogueStore<ShortCode> }.first
    }
}

extension HTMLLink {
    /// The page of an item, or one of its further pages.
    init<Item: EditableItem>(
        item key: Item.Key, _: Item.Type, of tenant: Tenant, _ further: String? = nil,
        query: [(String, String?)] = []
    ) {
        let name = Item.name(of: key).pathComponent
        self =
            if let further {
                HTMLLink(to: "t", tenant.slug.text, Item.section.rawValue, name, further, query: query)
            } else {
                HTMLLink(to: "t", tenant.slug.text, Item.section.rawValue, name, query: query)
            }
    }

    /// The page that adds an item.
    init<Item: EditableItem>(
        adding _: Item.Type, to tenant: Tenant, query: [(String, String?)] = []
    ) {
        self = HTMLLink(to: "t", tenant.slug.text, "add", Item.section.rawValue, query: query)
    }
}

extension String {
    /// As a path component. Browsers interpret `.` and `..` as steps (URL Standard §4.4), however they are encoded. So these
    /// names, and names with a leading tilde, get a tilde in front.
    var pathComponent: String { [".", ".."].contains(self) || hasPrefix("~") ? "~" + self : self }

    init(pathComponent: String) {
        self = pathComponent.hasPrefix("~") ? String(pathComponent.dropFirst()) : pathComponent
    }

    /// The words of a member's name: `appIDPrefix` has the words `app`, `ID` and `Prefix`.
    private var memberWords: [String] {
        var words: [String] = []
        for (index, character) in zip(indices, self) {
            let next = self[self.index(after: index)...].first
            let continues = words.last?.last.map { last in
                !character.isUppercase || last.isUppercase && next?.isLowercase != true
            }
            if continues == true {
                words[words.count - 1].append(character)
            } else {
                words.append(String(character))
            }
        }
        return words
    }

    /// The command's option for a member of this name, such as `team-id` for `teamID`.
    var optionName: String { memberWords.map { $0.lowercased() }.joined(separator: "-") }

    /// The label of a member of this name: `identifierRule` becomes `Identifier rule`, `teamID` becomes `Team ID`.
    var memberLabel: String {
        memberWords.map { ["url", "id"].contains($0.lowercased()) ? $0.uppercased() : $0.lowercased() }
            .joined(separator: " ").capitalizedSentence
    }

    /// With the article `a` or `an`.
    var withArticle: String { ("aeiou".contains(prefix(1).lowercased()) ? "an " : "a ") + self }
}
