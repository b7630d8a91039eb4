import Encodings
import JSON

/// Lists come a page at a time. What a page ends with is opaque to clients: the name of its last item.
extension QueryParameters {
    /// Where a page begins, from `after`; nil for the first.
    /// - Parameter read: nil for a name that no item of the list has.
    func cursor<Value>(_ read: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = optional("after") else { return nil }
        guard let name = Base64URL.bytes(text).flatMap({ String(validating: $0, as: UTF8.self) }),
            let value = read(name)
        else { throw .noSuchValue("after", "the parameter must be the next of a page of this list") }
        return value
    }
}

extension Answer {
    /// - Parameter items: one more than the page has, where there is a next one.
    init<Item>(page items: [Item], limit: Int, _ json: (Item) -> JSONObject, name: (Item) -> String) {
        let page = items.prefix(limit)
        let next = items.count > limit ? page.last.map { Base64URL.text(name($0).utf8) } : nil
        self.init(
            uncached: JSONValue.object([
                "data": .array(page.map { .object(json($0)) }), "next": next.map(JSONValue.string) ?? .null,
            ]).serialized())
    }
}
