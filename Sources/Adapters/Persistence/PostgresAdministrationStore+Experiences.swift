import Administration
import Cards
import Invocation
import PostgreSQL
import Tenancy

extension ExperienceRecord: ImportedResource {
    static let relation = "experiences"
    static let quota = QuotaKind.experiences
    static let keyColumns = ["kind", "url"]
    static let exportOrder = "url, kind"

    static func keyTexts(_ id: ExperienceID) -> [String] { [id.kind.rawValue, id.url.canonical] }

    static func key(from columns: [String]) throws -> ExperienceID {
        guard columns.count == 2, let kind = ExperienceKind(rawValue: columns[0]) else {
            throw PersistenceError.unreadable(relation)
        }
        return ExperienceID(kind, try PersistenceError.reading(relation) { try URLPrefix(columns[1]) })
    }

    /// Differs from the default: the statement has filters.
    static func page(
        of tenant: TenantID, after: ExperienceID?, limit: Int, where filter: [String: String]
    ) -> Query {
        // Lists the kinds, so that the primary key's index finds a URL.
        let kinds = filter["kind"].map { [$0] } ?? ExperienceKind.allCases.map(\.rawValue)
        return """
            SELECT \(unsafeSQL: columnList) FROM doorstep.experiences
            WHERE tenant_id = \(tenant.uuid) AND kind = ANY (\(kinds))
                AND (kind, url) > (\(after?.kind.rawValue ?? ""), \(after?.url.canonical ?? ""))
                AND (\(filter["url"])::text IS NULL OR url = \(filter["url"]))
                AND (\(filter["clip"])::text IS NULL OR bundle_id = \(filter["clip"]))
                AND (\(filter["location"])::text IS NULL OR location_identifier = \(filter["location"]))
            ORDER BY kind, url LIMIT \(limit)
            """
    }

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

    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] {
        [
            """
            INSERT INTO pg_temp.refused
            SELECT line, 'clip: the tenant has no clip ' || bundle_id FROM pg_temp.staged s
            WHERE NOT EXISTS (SELECT FROM doorstep.clips c
                WHERE c.tenant_id = \(tenant.uuid) AND c.bundle_id = s.bundle_id)
            ON CONFLICT DO NOTHING
            """
        ] + unknownReferences(of: tenant) + [
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
