import Administration
public import AppStoreSync
public import Cards
import Formats
public import Foundation
import Geodesy
import Invocation
public import PostgreSQL
public import Tenancy

/// The records of a clip's App Store sync in PostgreSQL, as `doorstep_admin`. The upload operations of images are encrypted. A server
/// that only plans reads the records as `doorstep_app`.
public struct PostgresSyncRecords: SyncRecords {
    let pool: ConnectionPool
    let keys: SealingKeys
    let clip: BundleID
    let tenant: TenantID
    let actor: String
    let role: DatabaseRole
    /// The interval at which the connection of a run's lock is used, because a proxy in front of PostgreSQL cuts connections that
    /// are silent for minutes. [ours]
    public var lockInterval = Duration.seconds(60)

    /// Creates the records for a server, which does not apply plans. The role is `doorstep_app`.
    public init(serving pool: ConnectionPool, keys: SealingKeys, clip: BundleID, of tenant: TenantID) {
        self.init(pool, keys: keys, clip: clip, of: tenant, actor: "", role: .app)
    }

    /// - Parameter actor: The person who applies the plan. The error of a concurrent run contains this name.
    public init(
        _ pool: ConnectionPool, keys: SealingKeys, clip: BundleID, of tenant: TenantID, actor: String
    ) {
        self.init(pool, keys: keys, clip: clip, of: tenant, actor: actor, role: .admin)
    }

    private init(
        _ pool: ConnectionPool, keys: SealingKeys, clip: BundleID, of tenant: TenantID, actor: String,
        role: DatabaseRole
    ) {
        self.role = role
        self.pool = pool
        self.keys = keys
        self.clip = clip
        self.tenant = tenant
        self.actor = actor
    }

    public func file(of image: ImageDigest) async throws -> [UInt8]? {
        try await read { try await $0.file(of: image) }
    }

    // MARK: Catalogue

    public func catalogue() async throws -> SyncCatalogue {
        try await pool.withTenantTransaction(tenant, as: role, .snapshot) { transaction in
            guard
                let row = try await transaction.execute(
                    """
                    SELECT multi_business, \(unsafeSQL: Card.storedColumns) FROM doorstep.clips
                    WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                    """
                ).first
            else { throw AdministrationError.unknownClip(clip) }
            let (isPoweredBy, json, image) = try row.decode(Bool.self, JSONText?.self, String?.self)
            let clipCard = try Card(stored: json, image: image)
            let proved = Set(
                try await transaction.execute(
                    "SELECT host FROM doorstep.domains WHERE tenant_id = \(tenant.uuid) AND proved_at IS NOT NULL"
                ).map { try $0.decode(at: 0, as: String.self) })
            let sizes = try await transaction.execute(
                "SELECT sha256, byte_count FROM doorstep.card_images WHERE tenant_id = \(tenant.uuid)"
            ).map { try $0.decode(String.self, Int32.self) }
            let experiences = try await transaction.execute(
                """
                SELECT e.kind, e.url, e.title, e.subtitle, e.card, e.card_image, l.identifier, l.name, l.latitude,
                    l.longitude, l.card, l.card_image
                FROM doorstep.experiences e
                LEFT JOIN doorstep.locations l
                    ON l.tenant_id = e.tenant_id AND l.identifier = e.location_identifier
                WHERE e.tenant_id = \(tenant.uuid) AND e.bundle_id = \(clip.text)
                """
            ).map { row in
                (
                    kind: try row.decode(at: 0, as: String.self),
                    experience: try CatalogueExperience(
                        row: row, clipCard: clipCard, isPoweredBy: isPoweredBy, proved: proved)
                )
            }
            return SyncCatalogue(
                experiences: experiences.filter { $0.kind == "advanced" }.map(\.experience),
                defaultExperiences: experiences.filter { $0.kind == "default" }
                    .map(\.experience.url.canonical).sorted(),
                imageSizes: try Dictionary(
                    sizes.map { digest, size in
                        (try PersistenceError.reading("card_images") { try ImageDigest(digest) }, Int(size))
                    }
                ) { first, _ in first })
        }
    }

    // MARK: Memory

    public func memory(at now: Date) async throws -> SyncMemory {
        // Only a run that uploads needs the operations.
        let operations = role == .admin ? "sealed_operations" : "NULL::bytea"
        return try await memory(at: now, operations)
    }

    private func memory(at now: Date, _ operations: String) async throws -> SyncMemory {
        try await pool.withTenantTransaction(tenant, as: role, actor: actor) { transaction in
            try await transaction.execute(
                """
                UPDATE doorstep.app_store_experiences a
                SET undesired_since = CASE WHEN a.undesired_since IS NULL THEN \(now) END
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                    AND (undesired_since IS NULL) <> EXISTS (SELECT FROM doorstep.experiences e
                        WHERE e.tenant_id = \(tenant.uuid) AND e.bundle_id = \(clip.text) AND e.kind = 'advanced'
                            AND e.url = a.url)
                """)
            let applied = try await transaction.execute(
                """
                SELECT url, phase, remote_id, content, sent_at, missing_listings, undesired_since
                FROM doorstep.app_store_experiences
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).map { try AppliedExperience(row: $0) }
            let removed = try await transaction.execute(
                """
                SELECT remote_id FROM doorstep.app_store_removals
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).map { try $0.decode(at: 0, as: String.self) }
            let refusals = try await transaction.execute(
                """
                SELECT url, content, code, source, request_id FROM doorstep.app_store_refusals
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).map { row in
                let (url, content, code, source, requestID) = try row.decode(
                    String.self, JSONText.self, String.self, String?.self, String?.self)
                return (
                    url,
                    SyncMemory.Refusal(
                        try ExperienceContent(stored: content), code: code, source: source,
                        requestID: requestID)
                )
            }
            let images = try await transaction.execute(
                """
                SELECT sha256, holder, remote_id, phase, \(unsafeSQL: operations), reserved_at
                FROM doorstep.app_store_images
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).map { try RemoteImage(row: $0, keys.of(tenant), clip) }
            return SyncMemory(
                applied: applied, removedIDs: Set(removed),
                refusals: Dictionary(refusals) { first, _ in first }, images: images)
        }
    }

    private func read<Result: Sendable>(
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: role, .readOnly, body)
    }
}

extension CatalogueExperience {
    /// Reads the columns of ``PostgresSyncRecords/catalogue()``. The first one is the kind.
    fileprivate init(row: Row, clipCard: Card, isPoweredBy: Bool, proved: Set<String>) throws {
        let url = try PersistenceError.reading("experiences") {
            try URLPrefix(row.decode(at: 1, as: String.self))
        }
        let (title, subtitle) = (
            try row.decode(at: 2, as: String?.self), try row.decode(at: 3, as: String?.self)
        )
        let card = try Card(
            stored: row.decode(at: 4, as: JSONText?.self), image: row.decode(at: 5, as: String?.self))
        var location: Location?
        if let identifier = try row.decode(at: 6, as: String?.self) {
            let (name, latitude, longitude) = (
                try row.decode(at: 7, as: String.self), try row.decode(at: 8, as: Double.self),
                try row.decode(at: 9, as: Double.self)
            )
            location = Location(
                identifier: identifier, name: name,
                center: try PersistenceError.reading("locations") {
                    try Coordinate(latitude: latitude, longitude: longitude)
                },
                card: try Card(
                    stored: row.decode(at: 10, as: JSONText?.self),
                    image: row.decode(at: 11, as: String?.self)))
        }
        let text = try PersistenceError.reading("experiences") {
            title == nil && subtitle == nil ? nil : try CardText(title: title, subtitle: subtitle)
        }
        self.init(
            url: url, text: text, card: card, location: location, clipCard: clipCard,
            isPoweredBy: isPoweredBy,
            isDomainProved: proved.contains(url.host))
    }
}

extension ExperienceContent {
    fileprivate init(stored: JSONText) throws {
        self = try PersistenceError.reading("app_store_experiences") {
            try ExperienceContent(JSONObjectReader(JSONValue(parsing: stored.text.utf8)))
        }
    }
}

extension AppliedExperience {
    /// Reads the columns of ``PostgresSyncRecords/memory(at:)``.
    fileprivate init(row: Row) throws {
        let (url, phase, id, content, sentAt, missing, undesiredSince) = try row.decode(
            String.self, String.self, String?.self, JSONText.self, Date.self, Int16.self, Date?.self)
        self.init(
            try PersistenceError.reading("app_store_experiences") { try URLPrefix(url) },
            try ExperienceContent(stored: content),
            phase == "created" ? .created(id: id ?? "") : .creating(missingListings: Int(missing)),
            sentAt: sentAt, undesiredSince: undesiredSince)
    }
}

extension RemoteImage {
    /// If no secret decrypts the operations of a reservation, the reservation is useless, and a new one is made.
    fileprivate init(row: Row, _ keys: TenantSealingKeys, _ clip: BundleID) throws {
        let (sha256, holder, id, phase, sealed, reservedAt) = try row.decode(
            String.self, String.self, String.self, String.self, [UInt8]?.self, Date.self)
        let digest = try PersistenceError.reading("app_store_images") { try ImageDigest(sha256) }
        var state: Phase
        switch phase {
        case "committed": state = .committed
        case "complete": state = .complete
        case "failed": state = .failed
        default:
            let bytes = sealed.flatMap { keys.open($0, at: Self.place(clip, id)) }
            let values = bytes.flatMap { try? JSONValue(parsing: $0) }?.arrayValue ?? []
            state = .reserved(values.compactMap(UploadOperation.init(json:)))
        }
        self.init(digest, holder: holder.isEmpty ? nil : holder, id: id, state, reservedAt: reservedAt)
    }

    /// Ciphertext that is copied to another row cannot be decrypted there.
    static func place(_ clip: BundleID, _ id: String) -> [String] { ["app_store_images", clip.text, id] }
}
