import Administration
import Tenancy

extension PostgresAdministrationStore {
    /// The kinds of ``TenantArchive/collections``, in the same order, with their tables.
    static let collections: [any ImportedResource.Type] =
        [LocationRecord.self, ExperienceRecord.self] + plainCollections

    /// The kinds whose endpoints follow from their descriptions alone.
    static let plainCollections: [any ImportedResource.Type] = [ShortCode.self]
}

extension ShortCode: ImportedResource {
    static let relation = "short_codes"
    static let quota = QuotaKind.shortCodes
}
