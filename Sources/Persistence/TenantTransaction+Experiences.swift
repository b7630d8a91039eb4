import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// The experiences whose host and path begin the URL's and whose query items are all among the URL's, and the
    /// default experience that a default link names.
    func experiences(near url: InvocationURL) async throws -> [ClipExperience] {
        let defaultClip = DefaultLink(url)?.clip.text
        let items = url.queryItemTexts
        return try await execute(
            """
            SELECT e.url, e.kind, e.bundle_id, e.location_identifier, e.identifier_rule, c.multi_business
            FROM doorstep.experiences e
            JOIN doorstep.clips c ON c.tenant_id = e.tenant_id AND c.bundle_id = e.bundle_id
            WHERE e.tenant_id = \(tenant.uuid)
                AND ((e.match_key = ANY (\(url.matchKeys))
                        AND e.first_query_item = ANY (\([""] + items))
                        AND e.query_items <@ \(items))
                    OR (e.kind = 'default' AND e.bundle_id = \(defaultClip)))
            """
        ).map { row in
            let (url, kind, clip, location, rule, isMultiBusiness) = try row.decode(
                String.self, String.self, String.self, String?.self, String?.self, Bool.self)
            return ClipExperience(
                try Experience(storedURL: url, kind: kind, clip: clip, location: location, rule: rule),
                clipIsMultiBusiness: isMultiBusiness)
        }
    }
}

extension Experience {
    /// Reads an experience back from its columns.
    /// - Throws: `PersistenceError.unreadable` when a row holds what no version of Doorstep writes.
    init(
        storedURL: String, kind: String, clip: String, location: String?, rule: String?
    ) throws(PersistenceError) {
        self = try PersistenceError.reading("experiences") {
            guard let kind = ExperienceKind(rawValue: kind) else {
                throw PersistenceError.unreadable("experiences")
            }
            let binding: LocationBinding =
                if let location {
                    .location(try LocationIdentifier(location))
                } else if let rule {
                    .rule(try IdentifierRule(rule))
                } else {
                    .unbound
                }
            return try Experience(
                url: URLPrefix(storedURL), kind: kind, clip: BundleID(clip), binding: binding)
        }
    }
}
