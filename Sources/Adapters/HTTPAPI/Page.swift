import Administration
import HTTPSyntax
import JSON

/// Lists come a page at a time. What a page ends with is opaque to clients: the name of its last item.
extension QueryParameters {
    /// Where a page begins, from `after`; nil for the first.
    /// - Parameter read: nil for a name that no item of the list has.
    func cursor<Value>(_ read: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = optional("after") else { return nil }
        guard let value = PageCursor.name(in: text).flatMap(read) else {
            throw .field(
                "after", code: "invalid_parameter", "the parameter must be 'next' of a page of this list")
        }
        return value
    }

    /// The order of a list, from `order`.
    /// - Parameter orders: The first is the default.
    func order(_ orders: [String]) throws(Problem) -> String {
        guard let text = optional("order") else { return orders[0] }
        guard orders.contains(text) else {
            throw .field(
                "order", code: "invalid_parameter",
                "the parameter must be \(orders.joined(separator: " or "))")
        }
        return text
    }
}

extension APIResponse {
    /// A page ends early where its items are long, so that no answer holds much memory until it is read; and it is read in
    /// parts, so that no more is read for it than a part.
    /// - Parameters:
    ///   - head: what the answer says beside the page.
    ///   - place: where an item stands in the list.
    ///   - read: the items after a place, up to so many.
    static func page<Item, Place>(
        head: JSONObject = [:], after: Place?, limit: Int, _ json: (Item) -> JSONObject,
        place: (Item) -> Place,
        name: (Place) -> String, _ read: (Place?, Int) async throws -> [Item]
    ) async throws -> APIResponse {
        var bytes = [UInt8(ascii: "{")]
        for (name, value) in head {
            bytes += JSONValue.string(name).serialized() + [UInt8(ascii: ":")] + value.serialized()
            bytes.append(UInt8(ascii: ","))
        }
        bytes += Array(#""data":["#.utf8)
        var (count, last, hasMore) = (0, after, true)
        while hasMore, count < limit, bytes.count < pageSize {
            let room = min(limit - count, partLength)
            let items = try await read(last, room + 1)
            hasMore = items.count > room
            for item in items.prefix(room) {
                guard bytes.count < pageSize else {
                    hasMore = true
                    break
                }
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += JSONValue.object(json(item)).serialized()
                count += 1
                last = place(item)
            }
        }
        let next = hasMore ? last.map { JSONValue.string(PageCursor.text(of: name($0))) } : nil
        bytes += Array(#"],"next":"#.utf8) + (next ?? .null).serialized() + [UInt8(ascii: "}")]
        return APIResponse(uncached: bytes)
    }

    /// How many items are read at once. [ours]
    static let partLength = 100

    /// After how many bytes a page takes no further item, 1 MiB [ours].
    private static let pageSize = 1_048_576
}
