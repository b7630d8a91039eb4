/// The hosts of all tenants' experiences. The key is the hash of tenant and host.
///
/// The last experience of a host removes the host. Hosts are stored like experiences, so that a change to a copy copies few of
/// them.
struct HostTable: Sendable {
    private struct Header: BitwiseCopyable {
        var depths: LookupIndex.Depths
        /// The number of experiences on the host.
        var count: UInt32
        let tenant: LookupIndex.TenantIndex
    }

    private var records = RecordTable<Header>()

    var count: Int { records.count }
    /// The size of the table in bytes.
    var memory: Int { records.memory }

    /// The depths of a host's experiences; nil if it has none.
    subscript(host: UInt64) -> LookupIndex.Depths? {
        @inline(__always) get { records.first(host) { header, _, _ in header.depths } }
    }

    mutating func add(_ depth: Int, hasQuery: Bool, _ host: UInt64, of tenant: LookupIndex.TenantIndex) {
        let bit: UInt64 = 1 << UInt64(depth)
        let added = LookupIndex.Depths(paths: bit, queries: hasQuery ? bit : 0)
        let isKnown = records.update(host) { header, _ in
            var header = header
            header.depths.paths |= added.paths
            header.depths.queries |= added.queries
            header.count += 1
            return header
        }
        if !isKnown { records.insert(host, Header(depths: added, count: 1, tenant: tenant), Span()) }
    }

    mutating func remove(_ host: UInt64) {
        let isUsed = records.update(host) { header, _ in
            guard header.count > 1 else { return nil }
            var header = header
            header.count -= 1
            return header
        }
        if !isUsed { records.remove(host) { _, _ in true } }
    }

    mutating func removeAll(of tenant: LookupIndex.TenantIndex) {
        records.removeAll { header, _ in header.tenant == tenant }
    }

    mutating func compact() { records.compact() }
}
