public import Administration
import Cards
import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importExperiences(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<ExperienceRecord>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
    }
}

extension ExperienceRecord: StoredItem {
    static func page(
        of tenant: TenantID, after: ExperienceID?, limit: Int, where filter: [String: String]
    ) -> Query {
        // With the kinds listed, one URL is found by the key.
        let kinds = filter["kind"].map { [$0] } ?? ExperienceKind.allCases.map(\.rawValue)
        return """
            SELECT \(unsafeSQL: columns) FROM doorstep.experiences
            WHERE tenant_id = \(tenant.uuid) AND kind = ANY (\(kinds))
                AND (kind, url) > (\(after?.kind.rawValue ?? ""), \(after?.url.canonical ?? ""))
                AND (\(filter["url"])::text IS NULL OR url = \(filter["url"]))
                AND (\(filter["clip"])::text IS NULL OR bundle_id = \(filter["clip"]))
                AND (\(filter["location"])::text IS NULL OR location_identifier = \(filter["location"]))
            ORDER BY kind, url LIMIT \(limit)
            """
    }

    static func selection(_ id: ExperienceID, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columns) FROM doorstep.experiences
        WHERE tenant_id = \(tenant.uuid) AND kind = \(id.kind.rawValue) AND url = \(id.url.canonical)
        \(unsafeSQL: lock)
        """
    }

    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, location_identifier,
            identifier_rule, title, subtitle, card, card_image)
        VALUES (\(tenant.uuid), \(experience.kind.rawValue), \(experience.url.canonical),
            \(experience.clip.text), \(experience.binding.location?.text), \(experience.binding.rule?.description),
            \(title), \(subtitle), \(storedCard.json)::jsonb, \(storedCard.image))
        ON CONFLICT (tenant_id, kind, url) DO NOTHING
        """
    }

    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.experiences
        SET bundle_id = \(experience.clip.text), location_identifier = \(experience.binding.location?.text),
            identifier_rule = \(experience.binding.rule?.description), title = \(title), subtitle = \(subtitle),
            card = \(storedCard.json)::jsonb, card_image = \(storedCard.image)
        WHERE tenant_id = \(tenant.uuid) AND kind = \(experience.kind.rawValue)
            AND url = \(experience.url.canonical)
        """
    }

    private var storedCard: (json: String?, image: String?) { card.stored }

    func refusal(_ error: PostgreSQLError) -> any Error {
        if let refusal = card.refusal(error, in: Self.relation) {
            refusal
        } else if error.isUniqueViolation("experiences_one_default_per_clip") {
            AdministrationError.secondDefaultExperience(experience.clip)
        } else if error.isForeignKeyViolation("experiences_tenant_id_bundle_id_fkey") {
            AdministrationError.unknownClip(experience.clip)
        } else if error.isForeignKeyViolation(), let location = experience.binding.location {
            AdministrationError.unknownLocation(location)
        } else {
            error
        }
    }

    static func delete(
        _ id: ExperienceID, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        let deleted = try await transaction.execute(
            """
            DELETE FROM doorstep.experiences
            WHERE tenant_id = \(transaction.tenant.uuid) AND kind = \(id.kind.rawValue)
                AND url = \(id.url.canonical)
            """)
        return [RowCount(relation: "experiences", count: deleted.affectedRows)]
    }

    static let columns =
        "url, kind, bundle_id, location_identifier, identifier_rule, title, subtitle, \(Card.storedColumns)"

    /// Takes ``columns``.
    init(row: Row) throws {
        let (url, kind, clip, location, rule, title, subtitle, card, image) = try row.decode(
            String.self, String.self, String.self, String?.self, String?.self, String?.self, String?.self,
            JSONText?.self, String?.self)
        let experience = try Experience(
            storedURL: url, kind: kind, clip: clip, location: location, rule: rule)
        self = try PersistenceError.reading("experiences") {
            try ExperienceRecord(
                experience, title: title, subtitle: subtitle, card: Card(stored: card, image: image))
        }
    }
}

extension LocationBinding {
    fileprivate var location: LocationIdentifier? {
        if case .location(let location) = self { location } else { nil }
    }

    fileprivate var rule: IdentifierRule? {
        if case .rule(let rule) = self { rule } else { nil }
    }
}

// MARK: - Import

extension ExperienceRecord: StagedItem {
    static let relation = "experiences"
    static let quota = QuotaKind.experiences
    static let keyColumns = ["kind", "url"]
    static let keyField = "url"
    static let changeableColumns: [StagedColumn] =
        [
            StagedColumn("bundle_id", #"text COLLATE "C""#, .required, field: "clip"),
            StagedColumn(
                "location_identifier", #"text COLLATE "C""#, .either(or: "identifier_rule"), field: "location"
            ),
            StagedColumn(
                "identifier_rule", #"text COLLATE "C""#, .either(or: "location_identifier"),
                field: "identifierRule"),
            StagedColumn("title", "text", .optional), StagedColumn("subtitle", "text", .optional),
        ] + Card.stagedColumns

    static func key(from columns: [String]) throws -> ExperienceID {
        guard columns.count == 2, let kind = ExperienceKind(rawValue: columns[0]) else {
            throw PersistenceError.unreadable(relation)
        }
        return ExperienceID(kind, try PersistenceError.reading(relation) { try URLPrefix(columns[1]) })
    }

    var stagedCard: Card? { card }

    func fields(with card: Card?) -> [String?] {
        [
            experience.kind.rawValue, experience.url.canonical, experience.clip.text,
            experience.binding.location?.text, experience.binding.rule?.description, title, subtitle,
        ] + Card.staged(card)
    }

    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] {
        [
            """
            INSERT INTO pg_temp.refused
            SELECT line, 'clip: the tenant has no clip ' || bundle_id FROM pg_temp.staged s
            WHERE NOT EXISTS (SELECT FROM doorstep.clips c
                WHERE c.tenant_id = \(tenant.uuid) AND c.bundle_id = s.bundle_id)
            ON CONFLICT DO NOTHING
            """,
            """
            INSERT INTO pg_temp.refused
            SELECT line, 'location: the tenant has no location ' || location_identifier FROM pg_temp.staged s
            WHERE location_identifier IS NOT NULL AND NOT EXISTS (SELECT FROM doorstep.locations l
                WHERE l.tenant_id = \(tenant.uuid) AND l.identifier = s.location_identifier)
            ON CONFLICT DO NOTHING
            """,
            """
            INSERT INTO pg_temp.refused
            SELECT s.line, 'kind: the clip ' || s.bundle_id || ' has a default experience already'
            FROM (
                SELECT line, bundle_id, url, min(line) OVER (PARTITION BY bundle_id) AS first
                FROM pg_temp.staged WHERE kind = 'default'
            ) s
            WHERE s.line > s.first OR EXISTS (SELECT FROM doorstep.experiences e
                WHERE e.tenant_id = \(tenant.uuid) AND e.kind = 'default' AND e.bundle_id = s.bundle_id
                    AND e.url <> s.url
                    -- One that goes is in nobody's way.
                    AND (NOT \(prunes) OR (e.kind, e.url) IN (SELECT kind, url FROM pg_temp.staged)))
            ON CONFLICT DO NOTHING
            """,
            Card.unknownImages(of: tenant),
        ]
    }
}
