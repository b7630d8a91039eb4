import Invocation
public import RateLimiting
public import Tenancy

extension RoutingTable {
    /// A host that is proved for a tenant.
    struct DomainEntry: Sendable {
        let tenant: TenantIndex
        /// What experiences on the host hash to, as far as it goes.
        let hash: UInt64
        let content: String?
        let pages: DomainPages
        var experiences = DomainExperiences()
    }

    /// The experiences on a proved host, by their hashes; of many, only how many there are.
    ///
    /// A site's association file is asked for by anyone and lists the experiences of one host, for which to look at
    /// those of all others would take too long.
    struct DomainExperiences: Sendable {
        private(set) var count = 0
        /// A hash for each experience; nil once there were more than `limit`, until half of them are gone.
        private(set) var hashes: [UInt64]? = []

        /// More would not fit an association file.
        static let limit = 1_024

        mutating func add(_ hash: UInt64) {
            count += 1
            hashes?.append(hash)
            if count > Self.limit { hashes = nil }
        }

        /// - Returns: whether the hashes must be gathered again.
        mutating func remove(_ hash: UInt64) -> Bool {
            count -= 1
            if let index = hashes?.firstIndex(of: hash) { hashes?.remove(at: index) }
            return hashes == nil && count <= Self.limit / 2
        }
    }

    /// What is registered for a host that a tenant has proved.
    public struct Site: Sendable {
        /// A clip of the tenant's, with the app it belongs to.
        public struct Clip: Sendable {
            public let bundleID: BundleID
            public let parentBundleID: BundleID
            public let teamID: TeamID
            public let appIDPrefix: AppIDPrefix
        }

        public struct RegisteredURL: Sendable {
            /// Canonical.
            public let url: String
            public let clip: BundleID
        }

        public let tenant: TenantID
        /// In no order.
        public let clips: [Clip]
        /// In no order; nil when they are more than an association file could list.
        public let urls: [RegisteredURL]?
        /// What is to be merged into the association file: the text of a JSON object, or nil.
        public let content: String?
    }

    /// A host that a tenant has proved, and what is shown there.
    public struct ProvedHost: Sendable {
        /// In lower case, without a port.
        public let name: String
        public let tenant: TenantID
        public let tenantName: String
        public let tenantIsSuspended: Bool
        /// The tenant's own; what is nil is left to the server.
        public let limits: RequestLimits
        public let pages: DomainPages
    }

    /// A host that a tenant has proved, in lower case and without a port; nil for any other.
    public func provedHost(_ host: String) -> ProvedHost? {
        guard let domain = domains[host] else { return nil }
        let tenant = tenants[Int(domain.tenant)]
        guard tenant.isPresent else { return nil }
        return ProvedHost(
            name: host, tenant: tenant.id, tenantName: tenant.name, tenantIsSuspended: tenant.isSuspended,
            limits: tenant.limits, pages: domain.pages)
    }

    /// Whether a tenant has proved a host, in lower case and without a port.
    public func isProved(host: String) -> Bool {
        domains[host].map { tenants[Int($0.tenant)].isPresent } ?? false
    }

    /// What is registered for a host, in lower case and without a port; nil when nobody has proved it.
    ///
    /// A suspended tenant's too: its data is kept, and only its keys are refused. [ours]
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
            urls: domain.experiences.hashes.map { registered($0, of: domain.tenant) },
            content: domain.content)
    }

    private func registered(_ hashes: [UInt64], of tenant: TenantIndex) -> [Site.RegisteredURL] {
        var urls: [Site.RegisteredURL] = []
        // Several kinds of one URL share a hash, and one search finds them all.
        for hash in Set(hashes) {
            _ = experiences.first(hash) { header, text, _ in
                guard header.tenant == tenant else { return nil as Never? }
                urls.append(
                    Site.RegisteredURL(
                        url: String(copying: text.extracting(0..<Int(header.urlLength))),
                        clip: clips[Int(header.clip)].bundleID))
                return nil
            }
        }
        return urls
    }

    // MARK: Changes

    mutating func setDomain(_ row: borrowing RoutingRow, _ id: TenantID) -> Bool {
        let content = row.text(DomainColumn.content)
        guard let host = row.text(DomainColumn.host), !host.isEmpty,
            content != nil || row.isNull(DomainColumn.content),
            let pages = row.text(DomainColumn.pages).flatMap(DomainPages.init)
        else { return false }
        let tenant = intern(id)
        // Another tenant's proof may be taken away in the same change, and heard of later.
        if let known = domains[host] { removeDomain(host, of: known.tenant) }
        var hash = hostHash(tenant)
        hash.combine(Array(host.utf8).span)
        domains[host] = DomainEntry(tenant: tenant, hash: hash.value, content: content, pages: pages)
        domainHosts[hash.value] = host
        gatherExperiences(ofDomain: host)
        return true
    }

    mutating func removeDomain(_ host: String, of tenant: TenantIndex) {
        guard let domain = domains[host], domain.tenant == tenant else { return }
        domains[host] = nil
        domainHosts[domain.hash] = nil
    }

    mutating func addToDomain(_ hashes: ExperienceHashes) {
        guard let host = domainHosts[hashes.host] else { return }
        domains[host]?.experiences.add(hashes.own)
    }

    mutating func removeFromDomain(_ hashes: ExperienceHashes) {
        guard let host = domainHosts[hashes.host] else { return }
        if domains[host]?.experiences.remove(hashes.own) == true { gatherExperiences(ofDomain: host) }
    }

    /// Looks at every experience there is: for a domain that is new, or has become small again.
    private mutating func gatherExperiences(ofDomain host: String) {
        guard let domain = domains[host] else { return }
        var gathered = DomainExperiences()
        experiences.forEach { header, text in
            guard header.tenant == domain.tenant else { return }
            let url = text.extracting(0..<Int(header.urlLength))
            guard let shape = URLShape(url) else { return }
            let hashes = ExperienceHashes(url, shape, host: hostHash(domain.tenant))
            if hashes.host == domain.hash { gathered.add(hashes.own) }
        }
        domains[host]?.experiences = gathered
    }
}
