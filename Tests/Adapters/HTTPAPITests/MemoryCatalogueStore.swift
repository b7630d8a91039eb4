import Administration
import Cards
import Formats
import Synchronization
import Tenancy

/// Stores items of the catalogue in memory.
final class MemoryCatalogueStore<Item: Resource>: CatalogueStore {
    private struct State {
        var items: [TenantID: [String: Item]] = [:]
        var actors: [String] = []
        var given = 0
        var refusal: (any Error)?
        var doubt: (any Error)?
        var isVisible = true
        var lastImport: ImportOptions?
    }

    private let state = Mutex(State())

    /// The actor of each change.
    var actors: [String] { state.withLock { $0.actors } }

    /// The options of the last import.
    var lastImport: ImportOptions? { state.withLock { $0.lastImport } }

    /// The number of items that were read for lists.
    var given: Int { state.withLock { $0.given } }

    /// Makes all changes fail with this error; nil ends this.
    func refuse(_ error: (any Error)?) { state.withLock { $0.refusal = error } }

    /// Makes changes without `force` fail with this error; nil ends this.
    func doubt(_ error: (any Error)?) { state.withLock { $0.doubt = error } }

    /// Sets whether lookups see new changes.
    func lagBehind(_ lags: Bool) { state.withLock { $0.isVisible = !lags } }

    func items(
        of tenant: TenantID, after: Item.Key?, limit: Int, where filter: [String: String]
    ) async throws -> [Item] {
        state.withLock { state in
            let after = after.map(Item.name) ?? ""
            let items = (state.items[tenant] ?? [:]).filter { name, item in
                name > after && filter.allSatisfy { item.json[$0.key] == .string($0.value) }
            }.sorted { $0.key < $1.key }.prefix(limit).map(\.value)
            state.given += items.count
            return items
        }
    }

    func item(_ key: Item.Key, of tenant: TenantID) async throws -> Item? {
        state.withLock { $0.items[tenant]?[Item.name(of: key)] }
    }

    func change(
        _ key: Item.Key, of tenant: TenantID, by actor: String, force: Bool,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item> {
        try state.withLock { state in
            let before = state.items[tenant]?[Item.name(of: key)]
            let after = try make(before)
            if let refusal = state.refusal { throw refusal }
            if let doubt = state.doubt, !force { throw doubt }
            if before != after {
                state.items[tenant, default: [:]][Item.name(of: key)] = after
                state.actors.append(actor)
            }
            return CatalogueChange(before: before, after: after, isVisible: state.isVisible)
        }
    }

    func delete(
        _ key: Item.Key, of tenant: TenantID, by actor: String, cascade: Bool,
        _ check: @Sendable (Item) throws -> Void
    ) async throws -> CatalogueDeletion {
        try state.withLock { state in
            guard let item = state.items[tenant]?[Item.name(of: key)] else { throw Item.unknown(key) }
            try check(item)
            if let refusal = state.refusal, !cascade { throw refusal }
            state.items[tenant]?[Item.name(of: key)] = nil
            state.actors.append(actor)
            return CatalogueDeletion(
                rows: [RowCount(relation: Item.collection, count: 1)], isVisible: state.isVisible)
        }
    }

    func importRows(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, of tenant: TenantID, by actor: Actor,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        state.withLock { $0.lastImport = options }
        var (sent, problems): ([String: Item], ImportProblems) = ([:], ImportProblems())
        for try await row in rows {
            switch row {
            case .row(let item, _, _): sent[Item.name(of: item.key)] = item
            case .refused(let problem): problems.add(problem)
            }
        }
        guard problems.isEmpty else { return (.refused(problems), true) }
        return try state.withLock { [sent] state in
            if let refusal = state.refusal { throw refusal }
            let present = state.items[tenant] ?? [:]
            let removed = options.prunes ? present.keys.filter { sent[$0] == nil } : []
            let changed = sent.filter { name, item in
                present[name].map { $0.json != item.json } ?? false
            }.keys
            let added = sent.keys.filter { present[$0] == nil }
            let counts = ImportCounts(
                added: added.count, changed: changed.count, removed: removed.count,
                unchanged: sent.count - added.count - changed.count)
            if options.isDryRun {
                func items(_ names: some Sequence<String>) -> [ImportPlan.Item] {
                    names.sorted().map { .init(name: $0, members: ["name": .string($0)]) }
                }
                let plan = ImportPlan(
                    counts: counts, added: items(added), changed: items(changed), removed: items(removed),
                    inUse: RemovalsInUse(),
                    removalsAreAllowed: removed.count <= options.allowedRemovals ?? present.count / 2)
                return (.planned(plan), true)
            }
            if removed.count > options.allowedRemovals ?? present.count / 2 {
                throw AdministrationError.tooManyRemovals(
                    removed.count, of: present.count, allowed: options.allowedRemovals ?? present.count / 2)
            }
            var items = present.merging(sent) { $1 }
            for name in removed { items[name] = nil }
            state.items[tenant] = items
            state.actors.append(actor.name)
            return (.done(counts), state.isVisible)
        }
    }
}

extension MemoryCatalogueStore: CollectionStore where Item: CollectionResource {}

/// Reads the files of images in memory.
struct MemoryImageFiles: ImageFiles {
    let images: MemoryCatalogueStore<CardImage>

    func bytes(_ range: Range<Int>, of image: ImageDigest, of tenant: TenantID) async throws -> [UInt8]? {
        try await images.item(image, of: tenant)?.file.map { Array($0[range.clamped(to: 0..<$0.count)]) }
    }
}
