import AppAttest
import Formats
import Foundation
import Geodesy
import Invocation
public import Tenancy

extension LookupIndex {
    /// Inserts a row, and replaces the row with the same key.
    ///
    /// Call ``settleDomains()`` after the rows of a change.
    ///
    /// - Parameter isNew: Whether no row with this key can exist yet, which saves a search. Call ``settle()`` after many such rows.
    /// - Throws: `unreadableRow` if the row contains a value that no version of Doorstep writes. The index then does not change,
    ///   with one exception: it records that a clip is unreadable, so that no request counts as a request of the genuine clip.
    public mutating func set(
        _ relation: IndexRelation, _ row: borrowing IndexRow, isNew: Bool = false
    ) throws(LookupIndexError) {
        guard let id = row.tenant else { throw .unreadableRow(relation) }
        let isReadable =
            switch relation {
            case .tenants: setTenant(row, id)
            case .clips: setClip(row, id)
            case .keys: setKey(row, id)
            case .domains: setDomain(row, id)
            case .locations: setLocation(row, id, isNew: isNew)
            case .experiences: setExperience(row, id, isNew: isNew)
            case .shortCodes: setShortCode(row, id)
            case .revokedAttestKeys: setRevokedAttestKey(row, id)
            }
        guard isReadable else { throw .unreadableRow(relation) }
    }

    /// Removes the row with a key; does nothing if there is none.
    ///
    /// - Parameter key: The key's values as text, in the relation's order, without the tenant.
    public mutating func remove(_ relation: IndexRelation, of tenant: TenantID, key: [String]) {
        guard let tenant = tenantIndices[tenant] else { return }
        switch (relation, key.count) {
        case (.tenants, _): removeTenant(tenant)
        case (.clips, 1):
            guard let clip = clipIndices[ClipName(tenant: tenant, bundleID: key[0])] else { return }
            setOwner(nil, of: clip)
            releaseIfUnused(clip)
        case (.domains, 1): removeDomain(key[0], of: tenant)
        case (.keys, 1):
            guard let id = UUID(uuidString: key[0]) else { return }
            removeKey(KeyName(tenant: tenant, id: KeyID(id)))
        case (.locations, 1):
            let name = Array(key[0].utf8)
            let hash = hash(.location, tenant, name.span)
            setCard(.none, .locationCard, tenant, name.span)
            if let removed = removeLocation(hash, tenant, name.span) { note(removed, hash, .remove) }
        case (.experiences, 2):
            guard let kind = ExperienceKind(rawValue: key[0]) else { return }
            removeExperience(kind, Array(key[1].utf8), tenant)
        case (.shortCodes, 1):
            let name = Array(key[0].utf8)
            shortCodes.remove(hash(.shortCode, tenant, name.span)) { header, text in
                header.tenant == tenant && Self.isName(name.span, of: header, text)
            }
        case (.revokedAttestKeys, 1):
            guard let digest = KeyDigest(hexadecimal: key[0]) else { return }
            revokedAttestKeys.remove(AttestKeyName(tenant: tenant, id: digest))
        default: return
        }
    }

    /// Removes all rows of a tenant in one relation, in time linear in the size of the relation.
    public mutating func removeAll(_ relation: IndexRelation, of tenant: TenantID) {
        guard let tenant = tenantIndices[tenant] else { return }
        switch relation {
        case .tenants: removeTenant(tenant)
        case .clips:
            for (name, clip) in clipIndices where name.tenant == tenant {
                setOwner(nil, of: clip)
                releaseIfUnused(clip)
            }
        case .domains:
            for (host, domain) in domains where domain.tenant == tenant { removeDomain(host, of: tenant) }
        case .keys:
            for name in keyDigests.keys where name.tenant == tenant { removeKey(name) }
        case .locations:
            locations.removeAll { header, _ in header.tenant == tenant }
            removeCards(of: tenant) { $0 == .locationCard }
            nearby[Int(tenant)].locations = OrderedPairs()
            nearby[Int(tenant)].ofClips = [:]
        case .shortCodes: shortCodes.removeAll { header, _ in header.tenant == tenant }
        case .revokedAttestKeys: revokedAttestKeys = revokedAttestKeys.filter { $0.tenant != tenant }
        case .experiences:
            var urls: [(ExperienceKind, [UInt8])] = []
            experiences.forEach { header, text in
                guard header.tenant == tenant, header.queryItemCount > 0 else { return }
                urls.append(
                    (ExperienceKind(header.kind), Array(copying: text.extracting(0..<Int(header.urlLength)))))
            }
            // One by one, because their query nodes must be removed, too.
            for (kind, url) in urls { removeExperience(kind, url, tenant) }
            var clipCounts: [ClipIndex: UInt32] = [:]
            var ruleCounts: [UInt32: UInt32] = [:]
            experiences.forEach { header, _ in
                guard header.tenant == tenant else { return }
                clipCounts[header.clip, default: 0] += 1
                if header.binding == .rule { ruleCounts[header.rule, default: 0] += 1 }
            }
            experiences.removeAll { header, _ in header.tenant == tenant }
            hosts.removeAll(of: tenant)
            for (rule, count) in ruleCounts { rules.remove(rule, count: count) }
            removeCards(of: tenant) { $0 != .locationCard }
            nearby[Int(tenant)].bound = OrderedPairs()
            nearby[Int(tenant)].readers = OrderedPairs()
            nearby[Int(tenant)].others = OrderedPairs()
            nearby[Int(tenant)].boundClips = OrderedPairs()
            nearby[Int(tenant)].ofClips = [:]
            removeFromDomains(of: tenant)
            for index in clips.indices where clips[index].tenant == tenant { clips[index].defaultURL = nil }
            for (clip, count) in clipCounts {
                clipUses.remove(clip, count: count)
                releaseIfUnused(clip)
            }
        }
    }

    private mutating func removeTenant(_ tenant: TenantIndex) {
        tenants[Int(tenant)].isPresent = false
        setOrigins([], of: tenant)
    }

    // MARK: Rows

    private mutating func setTenant(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        guard let isSuspended = row.bool(TenantColumn.suspendedAt),
            let keyLimit = row.limit(.keyRate, .keyBurst),
            let clientLimit = row.limit(.clientRate, .clientBurst),
            let name = row.text(TenantColumn.name),
            let newInstanceLimit = row.limit(.newInstanceRate, .newInstanceBurst),
            let clientNewInstanceLimit = row.limit(.clientNewInstanceRate, .clientNewInstanceBurst),
            let origins = row.text(TenantColumn.corsOrigins)
        else { return false }
        let tenant = Int(intern(id))
        tenants[tenant].name = name
        tenants[tenant].isSuspended = isSuspended
        tenants[tenant].limits = RequestLimits(
            key: keyLimit, client: clientLimit, newInstances: newInstanceLimit,
            clientNewInstances: clientNewInstanceLimit)
        tenants[tenant].isPresent = true
        setOrigins(Set(origins.split(separator: " ").map(String.init)), of: TenantIndex(tenant))
        return true
    }

    /// If only the key of a clip's row can be read, the index records this. Otherwise the clip would count as one that requires no
    /// attestation.
    private mutating func setClip(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        guard let name = row.text(ClipColumn.bundleId), let clip = intern(clip: name, of: intern(id)) else {
            return false
        }
        guard let isMultiBusiness = row.bool(ClipColumn.multiBusiness),
            let teamID = row.text(ClipColumn.teamId).flatMap({ try? TeamID($0) }),
            let parent = row.text(ClipColumn.parentBundleId).flatMap({ try? BundleID($0) }),
            let appIDPrefix = row.text(row.isNull(ClipColumn.appIdPrefix) ? ClipColumn.teamId : .appIdPrefix)
                .flatMap({ try? AppIDPrefix($0) }),
            row.isNull(ClipColumn.attestation) || row.text(ClipColumn.attestation) != nil,
            row.isWhole(to: ClipColumn.cardImage)
        else {
            change(clip) { $0.isUnreadable = true }
            return false
        }
        let owner = ClipOwner(
            teamID: teamID, appIDPrefix: appIDPrefix, parent: parent,
            attestation: row.text(ClipColumn.attestation).map { ClipAttestation(stored: $0) ?? .strictest })
        setOwner(owner, of: clip, isMultiBusiness: isMultiBusiness)
        clips[Int(clip)].links = ClipLinks(
            appStoreID: row.text(ClipColumn.appStoreId), androidURL: row.text(ClipColumn.androidUrl),
            siteName: row.text(ClipColumn.siteName))
        clips[Int(clip)].card = row.card(ClipColumn.card, ClipColumn.cardImage)
        return true
    }

    /// - Parameter owner: Nil for a clip without a row.
    private mutating func setOwner(
        _ owner: ClipOwner?, of clip: ClipIndex, isMultiBusiness: Bool = false
    ) {
        change(clip) { entry in
            entry.isMultiBusiness = isMultiBusiness
            entry.owner = owner
            entry.isUnreadable = false
            entry.links = nil
            entry.card = .none
        }
    }

    /// Changes a clip's entry, and updates the number of the tenant's clips that require attestation.
    private mutating func change(_ clip: ClipIndex, _ change: (inout ClipEntry) -> Void) {
        let before = clips[Int(clip)].asksForAttestations
        change(&clips[Int(clip)])
        let entry = clips[Int(clip)]
        guard entry.asksForAttestations != before else { return }
        tenants[Int(entry.tenant)].attestedClipCount += before ? -1 : 1
    }

    private mutating func setKey(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        guard let keyID = row.uuid(KeyColumn.keyId).map(KeyID.init(_:)),
            let kind = row.text(KeyColumn.kind).flatMap(KeyKind.init),
            let digest = row.withField(KeyColumn.digest, { KeyDigest($0) }) ?? nil,
            row.isNull(KeyColumn.expiresAt) || row.integer(KeyColumn.expiresAt) != nil,
            let scopes = row.scopes(of: kind),
            let locations = row.locations()
        else { return false }
        let name = KeyName(tenant: intern(id), id: keyID)
        removeKey(name)
        keyDigests[name] = digest
        keys[digest] = KeyEntry(
            name: name, kind: kind, scopes: scopes, locations: locations,
            expiresAt: row.integer(KeyColumn.expiresAt))
        return true
    }

    private mutating func removeKey(_ name: KeyName) {
        // The digest may now belong to another key.
        guard let digest = keyDigests.removeValue(forKey: name), keys[digest]?.name == name else { return }
        keys[digest] = nil
    }

    private mutating func setRevokedAttestKey(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        guard let digest = row.withField(RevokedAttestKeyColumn.keyId, { KeyDigest($0) }) ?? nil else {
            return false
        }
        revokedAttestKeys.insert(AttestKeyName(tenant: intern(id), id: digest))
        return true
    }

    private mutating func setLocation(_ row: borrowing IndexRow, _ id: TenantID, isNew: Bool) -> Bool {
        guard let latitude = row.double(LocationColumn.latitude),
            let longitude = row.double(LocationColumn.longitude),
            let radius = row.double(LocationColumn.radius),
            let center = try? Coordinate(latitude: latitude, longitude: longitude),
            (try? CircularRegion(center: center, radius: Distance(meters: radius))) != nil,
            let details = row.isNull(LocationColumn.details)
                ? LocationDetails.none
                : row.withField(LocationColumn.details, { LocationDetails(stored: $0) }) ?? nil,
            // `LocationTexts` has checked the columns after `cardImage`.
            let texts = LocationTexts(row), row.isWhole(to: LocationColumn.cardImage)
        else { return false }
        let tenant = intern(id)
        return row.withField(LocationColumn.identifier) { identifier in
            row.withField(LocationColumn.name) { name in
                guard max(identifier.count, name.count) <= Int(UInt16.max) else { return false }
                let hash = hash(.location, tenant, identifier)
                let removed = isNew ? nil : removeLocation(hash, tenant, identifier)
                let header = LocationHeader(
                    latitude: center.latitude, longitude: center.longitude, radius: radius, tenant: tenant,
                    identifierLength: UInt16(identifier.count), nameLength: UInt16(name.count))
                if details.isEmpty, texts == .none {
                    locations.insert(hash, header, identifier, name)
                } else {
                    let text = Array(copying: name) + details.json + texts.packed()
                    locations.insert(hash, header, identifier, text.span)
                }
                setCard(
                    row.card(LocationColumn.card, LocationColumn.cardImage), .locationCard, tenant,
                    identifier,
                    isNew: isNew)
                // Most changes do not move the location.
                if let removed, removed.center == center { return true }
                if let removed { note(removed, hash, .remove) }
                note(header, hash, isNew ? .gather : .add)
                return true
            } ?? false
        } ?? false
    }

    private mutating func removeLocation(
        _ hash: UInt64, _ tenant: TenantIndex, _ identifier: Span<UInt8>
    ) -> LocationHeader? {
        locations.remove(hash) { header, text in
            header.tenant == tenant && Self.isName(identifier, of: header, text)
        }
    }

    private mutating func setShortCode(_ row: borrowing IndexRow, _ id: TenantID) -> Bool {
        let tenant = intern(id)
        return row.withField(ShortCodeColumn.code) { code in
            row.withField(ShortCodeColumn.url) { url in
                guard code.count <= Int(UInt16.max) else { return false }
                let hash = hash(.shortCode, tenant, code)
                shortCodes.remove(hash) { header, text in
                    header.tenant == tenant && Self.isName(code, of: header, text)
                }
                shortCodes.insert(
                    hash, ShortCodeHeader(tenant: tenant, codeLength: UInt16(code.count)), code, url)
                return true
            } ?? false
        } ?? false
    }

    // MARK: Experiences

    private mutating func setExperience(_ row: borrowing IndexRow, _ id: TenantID, isNew: Bool) -> Bool {
        let tenant = intern(id)
        let hasLocation = !row.isNull(ExperienceColumn.locationIdentifier)
        let hasRule = !row.isNull(ExperienceColumn.identifierRule)
        guard let kind = row.withField(ExperienceColumn.kind, { ExperienceKind(text: $0) }) ?? nil,
            !hasLocation || !hasRule, row.isWhole(to: ExperienceColumn.cardImage)
        else { return false }
        return row.withField(ExperienceColumn.url) { url in
            guard let shape = URLShape(url) else { return false }
            let hashes = ExperienceHashes(url, shape, host: hostHash(tenant))
            guard hashes.nodes.count <= URLPrefix.maximumQueryItems,
                let rule = hasRule
                    ? row.text(ExperienceColumn.identifierRule).flatMap({ rules.add($0) }).map(Optional.some)
                    : .some(nil)
            else { return false }
            // The clip is interned last, so that a refused row adds no clip's name.
            guard
                let clip = row.withField(
                    ExperienceColumn.bundleId, { intern(clip: String(copying: $0), of: tenant) }) ?? nil
            else {
                if let rule { rules.remove(rule) }
                return false
            }
            // Before the old row is removed, because it may be the last one that uses the names.
            clipUses.add(clip)
            if !isNew { removeExperience(kind, url, hashes, tenant) }
            let header = ExperienceHeader(
                tenant: tenant, clip: clip, rule: rule ?? 0, urlLength: UInt16(url.count),
                matchLength: UInt16(shape.matchLength), pathComponentCount: UInt8(shape.pathComponentCount),
                queryItemCount: UInt8(hashes.nodes.count), kind: kind.number,
                binding: hasRule ? .rule : hasLocation ? .location : .unbound)
            let location = row.withField(ExperienceColumn.locationIdentifier) { Array(copying: $0) } ?? []
            experiences.insert(hashes.own, header, url, location.span)
            setCard(
                row.card(ExperienceColumn.card, ExperienceColumn.cardImage, beside: row.experienceText),
                kind.cardNamespace, tenant, url, isNew: isNew)
            note(header, boundTo: location.span, url, hashes.own, isNew ? .gather : .add)
            addNodes(hashes)
            addToDomain(hashes, url, of: clip)
            hosts.add(
                shape.pathComponentCount, hasQuery: !hashes.nodes.isEmpty, hashes.host, of: tenant)
            if kind == .default { clips[Int(clip)].defaultURL = Array(copying: url) }
            return true
        } ?? false
    }

    private mutating func removeExperience(_ kind: ExperienceKind, _ url: [UInt8], _ tenant: TenantIndex) {
        guard let shape = URLShape(url.span) else { return }
        removeExperience(kind, url.span, ExperienceHashes(url.span, shape, host: hostHash(tenant)), tenant)
    }

    private mutating func removeExperience(
        _ kind: ExperienceKind, _ url: Span<UInt8>, _ hashes: ExperienceHashes, _ tenant: TenantIndex
    ) {
        var location: [UInt8] = []
        let removed = experiences.remove(hashes.own) { header, text in
            let length = Int(header.urlLength)
            guard header.tenant == tenant, header.kind == kind.number,
                text.extracting(0..<length).isEqual(to: url)
            else { return false }
            location = Array(copying: text.extracting(length..<text.count))
            return true
        }
        guard let removed else { return }
        setCard(.none, kind.cardNamespace, tenant, url)
        note(removed, boundTo: location.span, url, hashes.own, .remove)
        removeNodes(hashes)
        removeFromDomain(hashes, url, of: removed.clip)
        hosts.remove(hashes.host)
        if removed.binding == .rule { rules.remove(removed.rule) }
        let clip = Int(removed.clip)
        if kind == .default, let known = clips[clip].defaultURL, known.span.isEqual(to: url) {
            clips[clip].defaultURL = nil
        }
        clipUses.remove(removed.clip, count: 1)
        releaseIfUnused(removed.clip)
    }

    private mutating func addNodes(_ hashes: ExperienceHashes) {
        for node in hashes.nodes {
            let isKnown = queryNodes.update(node) { count, _ in count + 1 }
            if !isKnown { queryNodes.insert(node, 1, Span()) }
        }
    }

    private mutating func removeNodes(_ hashes: ExperienceHashes) {
        for node in hashes.nodes {
            let isShared = queryNodes.update(node) { count, _ in count > 1 ? count - 1 : nil }
            if !isShared { queryNodes.remove(node) { _, _ in true } }
        }
    }

    // MARK: Names

    mutating func intern(_ id: TenantID) -> TenantIndex {
        if let known = tenantIndices[id] { return known }
        let index = TenantIndex(tenants.count)
        tenants.append(TenantEntry(id: id))
        nearby.append(NearbyIndex())
        tenantIndices[id] = index
        return index
    }

    private mutating func intern(clip name: String, of tenant: TenantIndex) -> ClipIndex? {
        let key = ClipName(tenant: tenant, bundleID: name)
        if let known = clipIndices[key] { return known }
        guard let bundleID = try? BundleID(name) else { return nil }
        let index = clipUses.unusedNumber()
        let entry = ClipEntry(tenant: tenant, bundleID: bundleID)
        if Int(index) < clips.count { clips[Int(index)] = entry } else { clips.append(entry) }
        clipIndices[key] = index
        return index
    }

    /// Removes a clip's name if the clip has neither a row nor experiences. The index of the name can then be used again.
    private mutating func releaseIfUnused(_ clip: ClipIndex) {
        let entry = clips[Int(clip)]
        guard entry.owner == nil, !entry.isUnreadable, !clipUses.isUsed(clip) else { return }
        clipIndices[ClipName(tenant: entry.tenant, bundleID: entry.bundleID.text)] = nil
        clips[Int(clip)].defaultURL = nil
        clipUses.release(clip)
    }
}

extension LookupIndex.KeyDigest {
    /// Reads the text of a `bytea` (PostgreSQL, "Binary Data Types", "bytea Hex Format"); nil for any other text.
    fileprivate init?(hexadecimal text: String) {
        guard text.hasPrefix("\\x"), let bytes = Base16.bytes(String(text.dropFirst(2))) else { return nil }
        self.init(bytes.span)
    }
}

extension ClipAttestation {
    /// Nil for a text that neither this version nor an earlier one writes.
    fileprivate init?(stored text: String) {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).objectValue,
            let read = try? ClipAttestation(JSONObjectReader(object))
        else { return nil }
        self = read
    }
}

extension ExperienceKind {
    /// Compares bytes, so that loading a million rows creates no strings for their kinds.
    fileprivate init?(text: Span<UInt8>) {
        guard
            let kind = Self.allCases.first(where: { kind in
                text.isEqual(to: kind.rawValue)
            })
        else { return nil }
        self = kind
    }
}

extension IndexRow {
    /// The first field of every relation.
    fileprivate var tenant: TenantID? { uuid(TenantColumn.tenantId).map(TenantID.init(_:)) }

    /// A limit; nil if both fields are null. The outer optional is nil if the fields cannot be read.
    fileprivate func limit(_ rate: TenantColumn, _ burst: TenantColumn) -> RateLimit?? {
        if isNull(rate), isNull(burst) { return .some(nil) }
        guard let rate = integer(rate), let burst = integer(burst) else { return nil }
        return RateLimit(perSecond: Int(rate), burst: Int(burst)).map { .some($0) }
    }

    /// Names of scopes separated by commas. An unknown scope grants nothing.
    fileprivate func scopes(of kind: KeyKind) -> Scopes? {
        guard let text = text(KeyColumn.scopes) else { return nil }
        let scopes = text.split(separator: ",").compactMap { Scope(rawValue: String($0)) }
        return Scopes(scopes.map(Scopes.init)).intersection(kind.scopes)
    }

    /// Identifiers separated by line feeds; nil for an unrestricted key. The outer optional is nil if an identifier cannot be read,
    /// so that no key gets more rights than intended.
    fileprivate func locations() -> Set<LocationIdentifier>?? {
        if isNull(KeyColumn.locations) { return .some(nil) }
        guard let lines = text(KeyColumn.locations)?.split(separator: "\n", omittingEmptySubsequences: false)
        else { return nil }
        let locations = lines.compactMap { try? LocationIdentifier(String($0)) }
        return locations.count == lines.count ? .some(Set(locations)) : nil
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { Array($0) }
    }
}
