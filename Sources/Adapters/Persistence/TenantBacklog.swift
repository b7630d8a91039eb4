import Tenancy

/// A bounded queue for all tenants. Each tenant's oldest elements come first.
///
/// While there is room, a tenant may use any amount. When the queue is full, an element of a tenant below its share replaces the
/// newest element of a tenant above its share. A flood from one tenant therefore costs other tenants nothing, and no room stays
/// unused. Adding an element takes constant time on average, for any number of tenants. [ours]
struct TenantBacklog<Element> {
    private var waiting: [TenantID: [Element]] = [:]
    private(set) var count = 0
    /// Tenants that had more than their share at the last check.
    private var over: [TenantID] = []

    /// Adds an element if there is room for it.
    /// - Parameter room: The maximum number of elements, including the waiting ones.
    /// - Returns: False if this element or another one was dropped.
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

    /// Makes room for a tenant's next element, if the tenant has less than its share and another tenant has more.
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

    /// Removes up to `limit` elements, the same number for each tenant as far as possible.
    /// - Parameter isReady: Selects tenants by ID and by the number of their elements. The default selects all.
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
