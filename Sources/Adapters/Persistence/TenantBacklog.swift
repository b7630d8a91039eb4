import Tenancy

/// What waits for many tenants in one bounded place, each tenant's oldest first.
///
/// While there is room, a tenant may use any amount. When there is none, a tenant below its share replaces the newest element
/// of one above its share. So one tenant's flood costs others nothing, and no share is unused. Adding takes constant time on
/// average, independent of the number of tenants. [ours]
struct TenantBacklog<Element> {
    private var waiting: [TenantID: [Element]] = [:]
    private(set) var count = 0
    /// Tenants that had more than their share when it was last looked.
    private var over: [TenantID] = []

    /// Adds an element where there is room for it.
    /// - Parameter room: For how many elements there is room, these included.
    /// - Returns: Whether none went: false when an element was dropped, this one or another.
    mutating func append(_ element: Element, of tenant: TenantID, room: Int) -> Bool {
        var isWhole = true
        if count >= room {
            isWhole = false
            guard dropForAnother(than: tenant, room: room) else { return isWhole }
        }
        waiting[tenant, default: []].append(element)
        count += 1
        return isWhole
    }

    /// Makes room for a tenant's next element, if others have more than their share and it has less.
    private mutating func dropForAnother(than tenant: TenantID, room: Int) -> Bool {
        let own = waiting[tenant]?.count ?? 0
        let share = max(1, room / (waiting.count + (own == 0 ? 1 : 0)))
        guard own < share else { return false }
        for isFresh in [false, true] {
            if isFresh { over = waiting.filter { $0.value.count > share }.map(\.key) }
            while let largest = over.last {
                if let count = waiting[largest]?.count, count > share {
                    waiting[largest]?.removeLast()
                    self.count -= 1
                    return true
                }
                over.removeLast()
            }
        }
        return false
    }

    /// Returns elements to the queue, before those that arrived later.
    mutating func putBack(_ elements: [Element], of tenant: TenantID) {
        guard !elements.isEmpty else { return }
        waiting[tenant, default: []].insert(contentsOf: elements, at: 0)
        count += elements.count
    }

    /// Takes up to so many elements out, as many of each tenant's as of any other's that has them.
    /// - Parameter isReady: Selects tenants, also by the number of their elements; by default all.
    mutating func removeFirst(
        upTo limit: Int, where isReady: (TenantID, Int) -> Bool = { _, _ in true }
    ) -> [(tenant: TenantID, element: Element)] {
        var taken: [(tenant: TenantID, element: Element)] = []
        taken.reserveCapacity(min(limit, count))
        var ready = waiting.filter { isReady($0.key, $0.value.count) }.map(\.key)
        while taken.count < limit, !ready.isEmpty {
            let share = max(1, (limit - taken.count) / ready.count)
            for tenant in ready {
                guard taken.count < limit, let elements = waiting[tenant] else { break }
                let first = elements.prefix(min(share, limit - taken.count))
                taken += first.map { (tenant, $0) }
                waiting[tenant] = first.count < elements.count ? Array(elements.dropFirst(first.count)) : nil
            }
            ready.removeAll { waiting[$0] == nil }
        }
        count -= taken.count
        return taken
    }
}
