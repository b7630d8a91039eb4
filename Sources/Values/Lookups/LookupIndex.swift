import AppAttest
public import Foundation
import Geodesy
import Invocation
import Tenancy

/// The lookup index: every tenant's experiences, locations, short codes and keys, arranged for search.
///
/// The index is a value: a change applies to a copy, which shares unchanged parts with the original. The change takes time in
/// proportion to its size. All readers of one copy see the same data.
///
/// Use ``of(_:trusting:)`` to read the data of a tenant. No lookup crosses tenants: the tenant is part of every hash, and every
/// record's tenant is compared.
public struct LookupIndex: Sendable {
    /// The index of a tenant in `tenants`. It is never used again for another tenant.
    typealias TenantIndex = UInt32
    typealias ClipIndex = UInt32

    struct TenantEntry: Sendable {
        let id: TenantID
        var name = ""
        var isSuspended = false
        var limits = RequestLimits()
        var corsOrigins: Set<String> = []
        /// The number of its clips that require attestation.
        var attestedClipCount = 0
        /// False after the tenant's row is deleted. Its remaining data cannot be found then.
        var isPresent = false
    }

    /// A clip without a row remains as a name while it has experiences.
    struct ClipEntry: Sendable {
        let tenant: TenantIndex
        let bundleID: BundleID
        var isMultiBusiness = false
        /// Nil while the clip has no row.
        var owner: ClipOwner?
        /// Whether the clip has a row that cannot be read, so that its requirements are unknown.
        var isUnreadable = false
        /// The canonical URL of its default experience.
        var defaultURL: [UInt8]?
        /// The links to its app on pages; nil if no link is configured or the clip has no row.
        var links: ClipLinks?
        var card = PackedCard.none

        var asksForAttestations: Bool { isUnreadable || owner?.attestation != nil }
    }

    struct ClipOwner: Sendable, Equatable {
        let teamID: TeamID
        let appIDPrefix: AppIDPrefix
        let parent: BundleID
        /// Nil for a clip that requires no attestation.
        let attestation: ClipAttestation?
    }

    struct ClipName: Hashable {
        let tenant: TenantIndex
        let bundleID: String
    }

    struct ExperienceHeader: BitwiseCopyable {
        let tenant: TenantIndex
        let clip: ClipIndex
        /// The number of an identifier rule in `rules`.
        let rule: UInt32
        /// The length of the registered URL; the identifier of its location follows in the record's text.
        let urlLength: UInt16
        /// The length of scheme, host and path.
        let matchLength: UInt16
        let pathComponentCount: UInt8
        let queryItemCount: UInt8
        let kind: UInt8
        let binding: Binding

        enum Binding: UInt8, BitwiseCopyable {
            case unbound, location, rule
        }
    }

    struct LocationHeader: BitwiseCopyable {
        let latitude: Double
        let longitude: Double
        let radius: Double
        let tenant: TenantIndex
        let identifierLength: UInt16
        /// The length of the name; the details, as JSON, and the packed ``LocationTexts`` follow in the record's text.
        let nameLength: UInt16

        var identifier: Range<Int> { 0..<Int(identifierLength) }
        var name: Range<Int> { Int(identifierLength)..<detailsStart }
        private var detailsStart: Int { Int(identifierLength) + Int(nameLength) }

        /// The range of the details, which contain no NUL.
        func details(in text: Span<UInt8>) -> Range<Int> {
            guard !LocationColumn.texts.isEmpty else { return detailsStart..<text.count }
            var end = detailsStart
            while end < text.count, text[end] != 0 { end += 1 }
            return detailsStart..<end
        }

        func texts(in text: Span<UInt8>) -> LocationTexts {
            LocationTexts(copying: text.extracting(details(in: text).upperBound..<text.count))
        }
    }

    struct ShortCodeHeader: BitwiseCopyable {
        let tenant: TenantIndex
        /// The length of the code; the URL follows in the record's text.
        let codeLength: UInt16
    }

    struct CardHeader: BitwiseCopyable {
        let tenant: TenantIndex
        /// The length of the name; the card follows in the record's text.
        let nameLength: UInt16
        /// The namespace of the name's owner.
        let namespace: Namespace
    }

    struct KeyDigest: Hashable {
        let words: (UInt64, UInt64, UInt64, UInt64)

        /// Compares all bytes in constant time, so that the duration reveals nothing about them.
        static func == (one: Self, other: Self) -> Bool {
            (one.words.0 ^ other.words.0) | (one.words.1 ^ other.words.1) | (one.words.2 ^ other.words.2)
                | (one.words.3 ^ other.words.3) == 0
        }

        /// The bits of a SHA-256 are practically random, so a part of them is a sufficient hash.
        func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
    }

    /// A key's ID is unique only within its tenant.
    struct KeyName: Hashable {
        let tenant: TenantIndex
        let id: KeyID
    }

    /// A key of App Attest, named by the SHA-256 of its public key.
    struct AttestKeyName: Hashable {
        let tenant: TenantIndex
        let id: KeyDigest
    }

    struct KeyEntry: Sendable {
        let name: KeyName
        let kind: KeyKind
        let scopes: Scopes
        /// Nil for an unrestricted key.
        let locations: Set<LocationIdentifier>?
        /// Microseconds since 2000-01-01 00:00 UTC.
        let expiresAt: Int64?
    }

    /// The depths at which a tenant may have experiences on a host. This hint saves hash lookups. It may contain additional depths.
    struct Depths: BitwiseCopyable, Sendable {
        /// Bit N: registered URLs with N path components.
        var paths: UInt64 = 0
        /// Bit N: registered URLs with N path components and a query.
        var queries: UInt64 = 0
    }

    /// Random, so that clients cannot choose URLs whose hashes collide.
    let seed: UInt64
    var tenants: [TenantEntry] = []
    var tenantIndices: [TenantID: TenantIndex] = [:]
    /// The number of tenants that list an origin.
    var corsOrigins: [String: Int] = [:]
    var clips: [ClipEntry] = []
    var clipIndices: [ClipName: ClipIndex] = [:]
    /// The number of experiences of each of `clips`.
    var clipUses = UseCounts()
    var rules: RuleTable
    var keys: [KeyDigest: KeyEntry] = [:]
    var keyDigests: [KeyName: KeyDigest] = [:]
    var revokedAttestKeys: Set<AttestKeyName> = []
    var hosts = HostTable()
    /// The verified hosts by name. Each is verified for one tenant.
    var domains: [String: DomainEntry] = [:]
    /// The experiences on verified hosts. The key is the hash of tenant and host. If a host's row is removed, its experiences
    /// remain until ``settleDomains()``, because the same change may set the row again.
    var domainExperiences: [UInt64: DomainExperiences] = [:]
    /// The hashes of hosts whose experiences ``settleDomains()`` gathers or drops.
    var unsettledDomains: Set<UInt64> = []
    /// The number of times that ``settleDomains()`` has visited all experiences.
    var domainScanCount = 0
    var experiences: RecordTable<ExperienceHeader>
    /// For each node, the number of experiences whose query items begin with the items of the node.
    var queryNodes = RecordTable<UInt32>()
    var locations: RecordTable<LocationHeader>
    var shortCodes = RecordTable<ShortCodeHeader>()
    /// The cards of locations and experiences; most have none.
    var cards = RecordTable<CardHeader>()
    /// By the indices of `tenants`.
    var nearby: [NearbyIndex] = []

    /// Creates an empty index.
    ///
    /// - Parameter expected: The approximate number of experiences, and of locations.
    public init(expected: Int = 0) {
        self.init(expected: expected, seed: UInt64.random(in: .min ... .max))
    }

    init(expected: Int, seed: UInt64) {
        self.seed = seed
        rules = RuleTable(seed: seed)
        experiences = RecordTable(expectedCount: expected)
        locations = RecordTable(expectedCount: expected)
    }

    // MARK: Origins

    /// Whether any tenant lists a web origin.
    public func allows(origin: String) -> Bool { corsOrigins[origin] != nil }

    mutating func setOrigins(_ origins: Set<String>, of tenant: TenantIndex) {
        for origin in tenants[Int(tenant)].corsOrigins {
            let count = corsOrigins[origin, default: 0] - 1
            corsOrigins[origin] = count > 0 ? count : nil
        }
        for origin in origins { corsOrigins[origin, default: 0] += 1 }
        tenants[Int(tenant)].corsOrigins = origins
    }

    // MARK: Sizes

    public var tenantCount: Int { tenants.reduce(0) { $0 + ($1.isPresent ? 1 : 0) } }
    public var experienceCount: Int { experiences.count }
    public var locationCount: Int { locations.count }

    /// The approximate size in bytes of the experiences, locations and short codes, with their indexes.
    public var memory: Int {
        experiences.memory + hosts.memory + queryNodes.memory + locations.memory + shortCodes.memory
            + cards.memory
            + nearbyMemory
    }

    /// The part of ``memory`` that the index of nearby locations takes.
    public var nearbyMemory: Int { nearby.reduce(0) { $0 + $1.memory } }

    /// Sorts new rows into the index of nearby locations, and settles domains. Before that, searches find them slowly.
    public mutating func settle() {
        settleDomains()
        for index in nearby.indices { settleNearby(index) }
    }

    /// Releases memory that was reserved while the index grew.
    public mutating func compact() {
        experiences.compact()
        hosts.compact()
        queryNodes.compact()
        locations.compact()
        shortCodes.compact()
        cards.compact()
        settle()
        for index in nearby.indices { nearby[index].compact() }
    }

    // MARK: Finding by name

    func location(_ identifier: LocationIdentifier, of tenant: TenantIndex) -> Location? {
        var text = identifier.text
        return text.withUTF8 { bytes in
            let name = Span(_unsafeElements: bytes)
            return locations.first(hash(.location, tenant, name)) { header, text, _ in
                guard header.tenant == tenant, Self.isName(name, of: header, text),
                    let center = try? Coordinate(latitude: header.latitude, longitude: header.longitude),
                    let region = try? CircularRegion(center: center, radius: Distance(meters: header.radius))
                else { return nil }
                return Location(
                    identifier: identifier,
                    name: String(copying: text.extracting(header.name)), region: region,
                    details: LocationDetails(copying: text.extracting(header.details(in: text))),
                    texts: header.texts(in: text))
            }
        }
    }

    func url(ofShortCode code: String, of tenant: TenantIndex) -> InvocationURL? {
        var code = code
        return code.withUTF8 { bytes in
            let name = Span(_unsafeElements: bytes)
            return shortCodes.first(hash(.shortCode, tenant, name)) { header, text, _ in
                guard header.tenant == tenant, Self.isName(name, of: header, text) else { return nil }
                return try? InvocationURL(String(copying: text.extracting(name.count..<text.count)))
            }
        }
    }

    /// Returns the holder of a key that is neither revoked nor expired, by the key's SHA-256; nil for any other key.
    ///
    /// The time of the search can reveal the bucket of a digest. A client that chooses a key cannot choose its digest.
    public func keyHolder(digest: Span<UInt8>, at now: Date) -> KeyHolder? {
        guard let digest = KeyDigest(digest), let key = keys[digest] else { return nil }
        let tenant = tenants[Int(key.name.tenant)]
        guard tenant.isPresent else { return nil }
        if let expiry = key.expiresAt, Double(expiry) / 1_000_000 <= now.timeIntervalSince(.year2000) {
            return nil
        }
        return KeyHolder(
            tenant: tenant.id, key: key.name.id, kind: key.kind, scopes: key.scopes, locations: key.locations,
            limits: tenant.limits, tenantIsSuspended: tenant.isSuspended)
    }

    func experience(at place: Place) -> IndexedExperience {
        experiences.read(place, experience)
    }

    func experience(_ header: ExperienceHeader, _ text: Span<UInt8>) -> IndexedExperience {
        let clip = Int(header.clip)
        let length = Int(header.urlLength)
        let binding: LocationBinding =
            switch header.binding {
            case .unbound: .unbound
            case .rule: .rule(rules[Int(header.rule)])
            case .location:
                (try? LocationIdentifier(String(copying: text.extracting(length..<text.count))))
                    .map(LocationBinding.location) ?? .unbound
            }
        return IndexedExperience(
            url: String(copying: text.extracting(0..<length)), kind: ExperienceKind(header.kind),
            clip: clips[clip].bundleID, clipIsMultiBusiness: clips[clip].isMultiBusiness,
            binding: binding, pathComponentCount: Int(header.pathComponentCount))
    }

    // MARK: Hashes

    enum Namespace: UInt8, BitwiseCopyable {
        case experience = 1, location, shortCode
        case locationCard, advancedCard, defaultCard, demoCard
    }

    func index(of tenant: TenantID) -> TenantIndex? {
        guard let index = tenantIndices[tenant], tenants[Int(index)].isPresent else { return nil }
        return index
    }

    func hash(_ namespace: Namespace, _ tenant: TenantIndex, _ text: Span<UInt8>) -> UInt64 {
        var hash = ByteHash(seed: seed)
        hash.combine(UInt64(tenant) << 8 | UInt64(namespace.rawValue))
        hash.combine(text)
        return hash.value
    }

    static func isName(_ name: Span<UInt8>, of header: LocationHeader, _ text: Span<UInt8>) -> Bool {
        text.extracting(header.identifier).isEqual(to: name)
    }

    static func isName(_ name: Span<UInt8>, of header: ShortCodeHeader, _ text: Span<UInt8>) -> Bool {
        Int(header.codeLength) == name.count && text.extracting(0..<name.count).isEqual(to: name)
    }
}

extension LookupIndex.KeyDigest {
    /// Nil unless there are 32 bytes.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == 32 else { return nil }
        let raw = bytes.bytes
        words = (
            raw.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
            raw.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self),
            raw.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self),
            raw.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }
}

extension ExperienceKind {
    /// The number of the kind in a record. It is also the rank among equally specific experiences.
    var number: UInt8 {
        switch self {
        case .advanced: 0
        case .default: 1
        case .demo: 2
        }
    }

    init(_ number: UInt8) {
        self = number == 0 ? .advanced : number == 1 ? .default : .demo
    }
}

extension String {
    /// Replaces invalid UTF-8, which no row of the database contains.
    init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}

extension Date {
    /// The origin of PostgreSQL's timestamps.
    static let year2000 = Date(timeIntervalSince1970: 946_684_800)
}
