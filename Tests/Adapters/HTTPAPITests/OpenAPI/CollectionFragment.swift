import Administration
import Formats

/// The fragment of a kind of items whose endpoints follow from ``CollectionResource`` alone: `Collection.json` with the kind's names
/// and its example. A fragment with the same file name replaces it.
struct CollectionFragment {
    /// The name that a file of this fragment would have, such as `ShortCodes.json`.
    let name: String
    let text: String

    init<Item: CollectionResource>(_: Item.Type, _ template: String) {
        let type = Self.capitalized(Item.typeName.split(separator: "_"))
        let key = Item.keyField?.name ?? ""
        var input = Item.example
        input[key] = nil
        let columns = Item.fields.filter { $0.isCell && Item.example[$0.name] != nil }
        let cells = columns.map { Item.example[$0.name].map { $0.stringValue ?? $0.text } ?? "" }
        let table = columns.map(\.cell).joined(separator: ",") + "\n" + cells.joined(separator: ",") + "\n"
        var schema = Item.keyField?.schema(.shown) ?? [:]
        schema["description"] = nil
        let noun: String = Item.noun.prefix(1).uppercased() + Item.noun.dropFirst()
        let values: KeyValuePairs<String, String> = [
            "keyName": key, "noun": Item.noun, "Noun": noun,
            "Type": type, "typeName": Item.typeName, "path": Item.path, "collection": Item.collection,
            "key": (Item.example[key] ?? .null).text, "keySchema": JSONValue.object(schema).text,
            "members": JSONValue.object([key: Item.example[key] ?? .null]).text,
            "example": JSONValue.object(Item.example).text, "input": JSONValue.object(input).text,
            "table": JSONValue.string(table).text,
            "lines": JSONValue.string(JSONValue.object(Item.example).text + "\n").text,
        ]
        name = "\(type)s.json"
        text = values.reduce(template) { $0.replacing("{{\($1.key)}}", with: $1.value) }
    }

    private static func capitalized(_ words: [Substring]) -> String {
        words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
