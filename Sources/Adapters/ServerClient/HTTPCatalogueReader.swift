import Administration
import Cards
import Formats
import Invocation
import Synchronization
import Tenancy

/// Reads a tenant's catalogue from a server, a page at a time.
///
/// Each page is consistent, but several pages are not: changes that others make meanwhile may be missing.
final class HTTPCatalogueReader: CatalogueReader {
    let tenant: Tenant
    private let server: APIConnection
    /// The columns from an earlier response by the collection, so that they need not be requested again.
    private let columns = Mutex<[String: Set<String>]>([:])

    init(_ server: APIConnection, _ tenant: Tenant) {
        self.server = server
        self.tenant = tenant
    }

    func clips() async throws -> [Clip] { try await all() }

    func eachImage(_ body: (CardImage) throws -> Void) async throws {
        let images: [CardImage] = try await all()
        for image in images {
            guard let path = CardImage.path(of: image.key) else { continue }
            let file = try await server.bytes(path + "/file", limit: HeaderImage.maximumByteCount)
            try body(CardImage(file: file, addedAt: image.addedAt))
        }
    }

    func domains() async throws -> [DomainRecord] { try await all() }

    func furtherColumns<Item: CollectionResource>(of _: Item.Type) async throws -> [String] {
        var names: Set<String> = []
        try await each(Item.self) { names.formUnion($0.furtherFields.map(\.key)) }
        columns.withLock { [names] in $0[Item.collection] = names }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// - Throws: ``ServerError/contended`` for a column that was added since the columns were read: it would be lost.
    func each<Item: CollectionResource>(_: Item.Type, _ body: (Item) throws -> Void) async throws {
        let known = columns.withLock { $0[Item.collection] }
        try await eachInOrder(Item.self) { item in
            guard known?.isSuperset(of: item.furtherFields.map(\.key)) != false else {
                throw ServerError.contended
            }
            try body(item)
        }
    }

    private func eachInOrder<Item: CollectionResource>(
        _: Item.Type, _ body: (Item) throws -> Void
    ) async throws {
        guard Item.self == ExperienceRecord.self else {
            var pages = Pages<Item>(server)
            while let item = try await pages.next() { try body(item) }
            return
        }
        try await eachExperience { if let item = $0 as? Item { try body(item) } }
    }

    /// Special: by URL, then by kind. The server lists experiences by kind.
    private func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws {
        // Each kind is ordered by URL: the kinds are merged.
        var lists: [(next: ExperienceRecord, rest: Pages<ExperienceRecord>)] = []
        for kind in ExperienceKind.allCases.map(\.rawValue).sorted() {
            var pages = Pages<ExperienceRecord>(server, where: ["kind": kind])
            if let first = try await pages.next() { lists.append((first, pages)) }
        }
        while let index = lists.indices.min(by: {
            lists[$0].next.urlBytes.lexicographicallyPrecedes(lists[$1].next.urlBytes)
        }) {
            try body(lists[index].next)
            if let next = try await lists[index].rest.next() {
                lists[index].next = next
            } else {
                lists.remove(at: index)
            }
        }
    }

    private func all<Item: APIItem>() async throws -> [Item] { try await APIItems<Item>(server).list() }
}

extension ExperienceRecord {
    fileprivate var urlBytes: String.UTF8View { experience.url.canonical.utf8 }
}

/// Reads a list at a server item by item. One page of the list is in memory.
private struct Pages<Item: APIItem> {
    private let items: APIItems<Item>
    private let filter: [String: String]
    private var page: ArraySlice<Item> = []
    private var last: Item.Key?
    private var isAtEnd = false

    private static var length: Int { 1_000 }

    init(_ server: APIConnection, where filter: [String: String] = [:]) {
        items = APIItems(server)
        self.filter = filter
    }

    mutating func next() async throws -> Item? {
        if page.isEmpty, !isAtEnd {
            let items = try await self.items.list(after: last, limit: Self.length, where: filter)
            page = items[...]
            last = items.last?.key
            isAtEnd = items.count < Self.length
        }
        return page.popFirst()
    }
}
