import Administration
import Cards
import Formats
import Tenancy

/// The kinds of items that the console edits.
private let kinds: [any EditableItem.Type] = [
    LocationRecord.self, ExperienceRecord.self, Clip.self, ShortCode.self,
]

extension AuditEntry {
    /// The item before the change; nil if it was created, is of another kind, or is no longer valid.
    func itemBefore<Item: EditableItem>(_: Item.Type) -> Item? {
        guard relation == Item.relation, let before else { return nil }
        var members: JSONObject = [:]
        for field in Item.fields {
            guard let column = field.column, let value = before[column], value != .null else { continue }
            members[field.name] = value
        }
        if Item.field(named: "card") != nil, let image = before["card_image"], image != .null {
            var card = members["card"]?.objectValue ?? [:]
            card["image"] = image
            members["card"] = .object(card)
        }
        return try? Item.read(members)
    }

    /// The page that gives the item its values before the change, or adds it again; nil if there is none.
    func restoration(for tenant: Tenant) -> HTMLLink? {
        kinds.lazy.compactMap { link(to: $0, tenant) }.first
    }

    /// The text of the link to ``restoration(for:)``.
    var restorationText: String { action == .delete ? "Add it again" : "Restore the earlier values" }

    private func link<Item: EditableItem>(to _: Item.Type, _ tenant: Tenant) -> HTMLLink? {
        guard let item = itemBefore(Item.self) else { return nil }
        // If the item is deleted, this page leads to the form that adds it.
        return HTMLLink(item: item.key, Item.self, of: tenant, "edit", query: [("entry", "\(id)")])
    }
}
