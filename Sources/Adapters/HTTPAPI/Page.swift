import Administration
import Formats

/// Lists are returned in pages. The cursor is the name of a page's last item, which is opaque to clients.
extension QueryParameters {
    /// The cursor in `after`; nil for the first page.
    /// - Parameter read: Reads the cursor's name; nil if no item of the list can have it.
    func cursor<Value>(_ read: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = optional("after") else { return nil }
        guard let value = PageCursor.name(in: text).flatMap(read) else {
            throw .field(
                "after", code: "invalid_parameter", "the parameter must be 'next' of a page of this list")
        }
        return value
    }

    /// The order of a list in `order`.
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
    /// A page of a list. A page of long items ends early, so that slow clients do not occupy much memory. Items are read in parts,
    /// so that at most one part is read in vain.
    /// - Parameters:
    ///   - head: The members of the response besides the page.
    ///   - place: Returns an item's position in the list.
    ///   - read: Reads up to a number of items after a position.
    static func page<Item, Place>(
        head: JSONObject = [:], after: Place?, limit: Int, _ json: (Item) -> JSONObject,
        place: (Item) -> Place,
        name: (Place) -> String, _ read: (Place?, Int) async throws -> [Item]
    ) async throws -> APIResponse {
        try await searchPage(head: head, after: after, limit: limit, json, place: place, name: name) {
            (items: try await read($0, $1), stoppedAt: nil)
        }
    }

    /// A page of a list whose items are searched.
    /// - Parameter search: Finds at most a number of items after a position. Also returns the position where the search stopped, if it
    ///   stopped before it found that many items and before the end of the list. The page then ends there.
    static func searchPage<Item, Place>(
        head: JSONObject = [:], after: Place?, limit: Int, _ json: (Item) -> JSONObject,
        place: (Item) -> Place,
        name: (Place) -> String,
        _ search: (Place?, Int) async throws -> (items: [Item], stoppedAt: Place?)
    ) async throws -> APIResponse {
        var bytes = [UInt8(ascii: "{")]
        for (name, value) in head {
            bytes += JSONValue.string(name).serialized() + [UInt8(ascii: ":")] + value.serialized()
            bytes.append(UInt8(ascii: ","))
        }
        bytes += Array(#""data":["#.utf8)
        var (count, last, hasMore) = (0, after, true)
        parts: while hasMore, count < limit, bytes.count < pageSize {
            let room = min(limit - count, partLength)
            let (items, stoppedAt) = try await search(last, room + 1)
            hasMore = items.count > room
            for item in items.prefix(room) {
                guard bytes.count < pageSize else {
                    hasMore = true
                    break parts
                }
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += JSONValue.object(json(item)).serialized()
                count += 1
                last = place(item)
            }
            if !hasMore, let stoppedAt {
                (last, hasMore) = (stoppedAt, true)
                break
            }
        }
        let next = hasMore ? last.map { JSONValue.string(PageCursor.text(of: name($0))) } : nil
        bytes += Array(#"],"next":"#.utf8) + (next ?? .null).serialized() + [UInt8(ascii: "}")]
        var response = APIResponse(uncached: bytes)
        response.isCompressible = true
        return response
    }

    /// The most items that are read at once. [ours]
    static let partLength = 100

    /// The size in bytes after which a page takes no further item. [ours]
    private static let pageSize = 1_048_576
}
