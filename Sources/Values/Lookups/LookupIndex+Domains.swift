public import Invocation
public import Tenancy

extension LookupIndex {
    /// A host that is verified for a tenant.
    struct DomainEntry: Sendable {
        let tenant: TenantIndex
        /// The hash state of the host's experiences, before their path.
        let hash: UInt64
        let content: String?
        let pages: DomainPages
    }

    /// The experiences on a verified host, by hash; if there are many, by the groups of their URLs.
    ///
    /// Any client can request a site's association file, which lists the experiences of one host. A scan of
    /// all hosts, or of all experiences of a large host, would take too long.
    struct DomainExperiences: Sendable {
        struct Key: Hashable, Sendable {
            let group: URLGroup
            let clip: ClipIndex
        }

        struct Group: Sendable {
            var count = 0
            /// Empty after the number exceeded ``URLGroup/smallCount``, until the host's experiences are gathered again.
            var hashes: [UInt64] = []

            mutating func add(_ hash: UInt64) {
                if count < URLGroup.smallCount, hashes.count == count {
                    hashes.append(hash)
                } else {
                    hashes = []
                }
                count += 1
            }

            mutating func remove(_ hash: UInt64) {
                count -= 1
                if let index = hashes.firstIndex(of: hash) { hashes.remove(at: index) }
            }

            var isListed: Bool { hashes.count == count }
        }

        enum Kept: Sendable {
            case hashes([UInt64])
            case groups([Key: Group])
            /// Even the broadest groups are too many.
            case none
        }

        private(set) var count = 0
        private(set) var kept: Kept
        /// The breadth of the groups; nil for single experiences.
        let breadth: URLGroup.Breadth?

        static let limit = URLGroup.maximumCount

        init(_ breadth: URLGroup.Breadth? = nil) {
            self.breadth = breadth
            kept = breadth == nil ? .hashes([]) : .groups([:])
        }

        /// - Returns: Whether the experiences must be gathered again in broader groups, because there are too many.
        mutating func add(_ hash: UInt64, _ url: Span<UInt8>, of clip: ClipIndex) -> Bool {
            count += 1
            switch kept {
            case .none: return false
            case .hashes(var hashes):
                kept = .none
                hashes.append(hash)
                kept = .hashes(hashes)
                return hashes.count > Self.limit
            case .groups(var groups):
                kept = .none
                if let key = key(url, clip) { groups[key, default: Group()].add(hash) }
                kept = .groups(groups)
                return groups.count > Self.limit
            }
        }

        /// - Returns: Whether the experiences must be gathered again in narrower groups, because there are few.
        mutating func remove(_ hash: UInt64, _ url: Span<UInt8>, of clip: ClipIndex) -> Bool {
            count -= 1
            switch kept {
            case .none: break
            case .hashes(var hashes):
                kept = .none
                if let index = hashes.firstIndex(of: hash) { hashes.remove(at: index) }
                kept = .hashes(hashes)
                return false
            case .groups(var groups):
                kept = .none
                if let key = key(url, clip) {
                    groups[key]?.remove(hash)
                    if groups[key]?.count == 0 { groups[key] = nil }
                }
                kept = .groups(groups)
            }
            return count <= Self.limit / 2
        }

        mutating func giveUp() { kept = .none }

        private func key(_ url: Span<UInt8>, _ clip: ClipIndex) -> Key? {
            guard let breadth, let url = try? URLPrefix(String(copying: url)) else { return nil }
            return Key(group: URLGroup(url, breadth), clip: clip)
        }
    }

    /// The registered data of a host that a tenant has verified.
    public struct Site: Sendable {
        /// A clip of the tenant, with the app that it belongs to.
        public struct Clip: Sendable {
            public let bundleID: BundleID
            public let parentBundleID: BundleID
            public let teamID: TeamID
            public let appIDPrefix: AppIDPrefix
        }

        /// A registered URL, or a group of several.
        public struct Link: Sendable {
            public let group: URLGroup
            public let clip: BundleID
        }

        public let tenant: TenantID
        /// In no order.
        public let clips: [Clip]
        /// In no order; nil if even the groups are more than an association file could list.
        public let links: [Link]?
        /// The content to merge into the association file: the text of a JSON object, or nil.
        public let content: String?
    }

    /// A host that a tenant has verified, and whether it shows pages.
    public struct ProvedHost: Sendable {
        /// In lower case, without a port.
        public let name: String
        public let tenant: TenantID
        public let tenantName: String
        public let tenantIsSuspended: Bool
        /// The tenant's own limits; nil means the server's default.
        public let limits: RequestLimits
        public let pages: DomainPages
    }

    /// Returns a host that a tenant has verified, by its name in lower case without a port; nil for any other.
    public func provedHost(_ host: String) -> ProvedHost? {
        guard let domain = domains[host] else { return nil }
        let tenant = tenants[Int(domain.tenant)]
        guard tenant.isPresent else { return nil }
        return ProvedHost(
            name: host, tenant: tenant.id, tenantName: tenant.name, tenantIsSuspended: tenant.isSuspended,
            limits: tenant.limits, pages: domain.pages)
    }

    /// Whether a tenant has verified a host, in lower case and without a port.
    public func isProved(host: String) -> Bool {
        domains[host].map { tenants[Int($0.tenant)].isPresent } ?? false
    }

    /// Returns the registered data of a host, in lower case and without a port; nil if no tenant has
    /// verified it.
    ///
    /// This includes the hosts of a suspended tenant: its data remains, and only its keys are rejected.
    /// [ours]
    public func site(ofHost host: String) -> Site? {
        guard let domain = domains[host], tenants[Int(domain.tenant)].isPresent else { return nil }
        return Site(
            tenant: tenants[Int(domain.tenant)].id,
            clips: clips.compactMap { clip in
                guard clip.tenant == domain.tenant, let owner = clip.owner else { return nil }
                return Site.Clip(
                    bundleID: clip.bundleID, parentBundleID: owner.parent, teamID: owner.teamID,
                    appIDPrefix: owner.appIDPrefix)
            },
            links: links(domain),
            content: domain.content)
    }

    private func links(_ domain: DomainEntry) -> [Site.Link]? {
        guard
            let experiences = domainExperiences[domain.hash]
                ?? gathered([domain.hash: domain.tenant])[domain.hash]
        else { return nil }
        return switch experiences.kept {
        case .none: nil
        case .hashes(let hashes): registered(hashes, of: domain.tenant)
        case .groups(let groups):
            groups.filter { !$0.value.isListed }.map {
                Site.Link(group: $0.key.group, clip: clips[Int($0.key.clip)].bundleID)
            } + registered(groups.values.filter(\.isListed).flatMap(\.hashes), of: domain.tenant)
        }
    }

    private func registered(_ hashes: [UInt64], of tenant: TenantIndex) -> [Site.Link] {
        var links: [Site.Link] = []
        // Experiences of several kinds with one URL share a hash, and one search finds them all.
        for hash in Set(hashes) {
            _ = experiences.first(hash) { header, text, _ in
                guard header.tenant == tenant else { return nil as Never? }
                guard let url = try? URLPrefix(String(copying: text.extracting(0..<Int(header.urlLength))))
                else {
                    return nil
                }
                links.append(Site.Link(group: .url(url), clip: clips[Int(header.clip)].bundleID))
                return nil
            }
        }
        return links
    }

    // MARK: Changes

    mutating func setDomain(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        let content = row.text(DomainColumn.content)
        guard let host = row.text(DomainColumn.host), !host.isEmpty,
            content != nil || row.isNull(DomainColumn.content),
            let pages = row.text(DomainColumn.pages).flatMap(DomainPages.init)
        else { return false }
        let tenant = intern(id)
        // If the same change removes another tenant's verification, that row may arrive later.
        if let known = domains[host], known.tenant != tenant { removeDomain(host, of: known.tenant) }
        var hash = hostHash(tenant)
        hash.combine(Array(host.utf8).span)
        domains[host] = DomainEntry(tenant: tenant, hash: hash.value, content: content, pages: pages)
        guard !hasGathered(hash.value) else { return true }
        if hosts[hash.value] == nil {
            domainExperiences[hash.value] = DomainExperiences()
        } else {
            unsettledDomains.insert(hash.value)
        }
        return true
    }

    mutating func removeDomain(_ host: String, of tenant: TenantIndex) {
        guard let domain = domains[host], domain.tenant == tenant else { return }
        domains[host] = nil
        unsettledDomains.insert(domain.hash)
    }

    mutating func addToDomain(_ hashes: ExperienceHashes, _ url: Span<UInt8>, of clip: ClipIndex) {
        guard hasGathered(hashes.host) else { return }
        if domainExperiences[hashes.host]?.add(hashes.own, url, of: clip) == true {
            gatherLater(hashes.host)
        }
    }

    mutating func removeFromDomain(_ hashes: ExperienceHashes, _ url: Span<UInt8>, of clip: ClipIndex) {
        guard hasGathered(hashes.host) else { return }
        if domainExperiences[hashes.host]?.remove(hashes.own, url, of: clip) == true {
            gatherLater(hashes.host)
        }
    }

    mutating func removeFromDomains(of tenant: TenantIndex) {
        for hash in unsettledDomains { domainExperiences[hash] = nil }
        for domain in domains.values where domain.tenant == tenant {
            domainExperiences[domain.hash] = DomainExperiences()
        }
    }

    /// Checks for the key first. A removal copies the dictionary of a copied index even if the key is missing.
    private func hasGathered(_ host: UInt64) -> Bool { domainExperiences.index(forKey: host) != nil }

    private mutating func gatherLater(_ host: UInt64) {
        domainExperiences[host] = nil
        unsettledDomains.insert(host)
    }

    /// Gathers the experiences of newly verified hosts, and of hosts whose number of experiences requires broader or narrower
    /// groups. Before that, searches find them slowly.
    ///
    /// Visits all experiences once for any number of hosts. If only the content or the pages of hosts changed, visits none.
    public mutating func settleDomains() {
        guard !unsettledDomains.isEmpty else { return }
        var verified: [UInt64: TenantIndex] = [:]
        for domain in domains.values where unsettledDomains.contains(domain.hash) {
            verified[domain.hash] = domain.tenant
        }
        for hash in unsettledDomains where verified[hash] == nil { domainExperiences[hash] = nil }
        unsettledDomains = []
        let missing = verified.filter { !hasGathered($0.key) }
        guard !missing.isEmpty else { return }
        domainScanCount += 1
        domainExperiences.merge(gathered(missing)) { _, new in new }
    }

    /// Visits all experiences once and returns the experiences of these hosts, by the hosts' hashes.
    private func gathered(_ hosts: [UInt64: TenantIndex]) -> [UInt64: DomainExperiences] {
        var gathered = hosts.mapValues { _ in GatheredExperiences() }
        var isWanted = Array(repeating: false, count: tenants.count)
        for tenant in hosts.values { isWanted[Int(tenant)] = true }
        experiences.forEach { header, text in
            guard isWanted[Int(header.tenant)] else { return }
            let url = text.extracting(0..<Int(header.urlLength))
            guard let shape = URLShape(url) else { return }
            var host = hostHash(header.tenant)
            host.combine(url.extracting(URLShape.schemeLength..<shape.hostEnd))
            guard gathered.index(forKey: host.value) != nil else { return }
            let hashes = ExperienceHashes(url, shape, host: hostHash(header.tenant))
            gathered[host.value]?.add(hashes.own, url, of: header.clip)
        }
        return gathered.mapValues(\.narrowest)
    }
}

/// The experiences of a host during a visit of all experiences: single experiences while there are few, then groups of each
/// breadth.
private struct GatheredExperiences {
    typealias Experiences = LookupIndex.DomainExperiences

    private var few: [(hash: UInt64, url: [UInt8], clip: LookupIndex.ClipIndex)] = []
    /// From narrow to broad, without breadths that have too many groups. Empty while there are few experiences.
    private var grouped: [Experiences] = []

    mutating func add(_ hash: UInt64, _ url: Span<UInt8>, of clip: LookupIndex.ClipIndex) {
        guard grouped.isEmpty else { return addToGroups(hash, url, clip) }
        few.append((hash, Array(copying: url), clip))
        guard few.count > Experiences.limit else { return }
        grouped = URLGroup.Breadth.allCases.map { Experiences($0) }
        for experience in few { addToGroups(experience.hash, experience.url.span, experience.clip) }
        few = []
    }

    private mutating func addToGroups(_ hash: UInt64, _ url: Span<UInt8>, _ clip: LookupIndex.ClipIndex) {
        for index in grouped.indices.reversed() where grouped[index].add(hash, url, of: clip) {
            if grouped[index].breadth == URLGroup.Breadth.allCases.last {
                grouped[index].giveUp()
            } else {
                grouped.remove(at: index)
            }
        }
    }

    /// The narrowest breadth that does not have too many groups.
    var narrowest: Experiences {
        if let first = grouped.first { return first }
        var experiences = Experiences()
        for experience in few {
            _ = experiences.add(experience.hash, experience.url.span, of: experience.clip)
        }
        return experiences
    }
}
