import Administration
import JSON

/// Lists come a page at a time. What a page ends with is opaque to clients: the name of its last item.
extension QueryParameters {
    /// Where a page begins, from `after`; nil for the first.
    /// - Parameter read: nil for a name that no item of the list has.
    func cursor<Value>(_ read: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = optional("after") else { return nil }
        guard let value = PageCursor.name(in: text).flatMap(read) else {
            throw .noSuchValue("after", "the parameter must be the next of a page of this list")
        }
        return value
    }
}

extension Answer {
    /// A page ends early where its items are long, so that no answer holds much memory until it is read.
    /// - Parameter items: one more than the page has, where there is a next one.
    init<Item>(page items: [Item], limit: Int, _ json: (Item) -> JSONObject, name: (Item) -> String) {
        var bytes = Array(#"{"data":["#.utf8)
        var count = 0
        for item in items.prefix(limit) where count == 0 || bytes.count < Self.pageSize {
            if count > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += JSONValue.object(json(item)).serialized()
            count += 1
        }
        let next = items.count > count ? JSONValue.string(PageCursor.text(of: name(items[count - 1]))) : .null
        bytes += Array(#"],"next":"#.utf8) + next.serialized() + [UInt8(ascii: "}")]
        self.init(uncached: bytes)
    }

    /// After how many bytes a page takes no further item, 1 MiB [ours].
    private static let pageSize = 1_048_576
}
