/// The tables of the schema that a lookup index is built from.
///
/// The ``IndexColumn``s of a relation define the columns to read, the fields of a row and their order, and
/// the contents of a saved index. A test compares them with the grants and triggers of the schema.
public enum IndexRelation: String, Sendable, Hashable, CaseIterable {
    case tenants
    case clips
    /// Keys that are not revoked.
    case keys = "api_keys"
    /// Verified domains.
    case domains
    case locations
    case experiences
    case shortCodes = "short_codes"
    /// Revoked keys of App Attest.
    case revokedAttestKeys = "revoked_attest_keys"

    /// The columns in the order of a row's fields. The tenant's ID is the first column of each relation.
    public var columns: [any IndexColumn] { columnType.list }

    /// Whether a tenant may have very many rows in the relation.
    ///
    /// The other relations decide which requests are permitted: the feed applies their changes first.
    public var isCatalogue: Bool {
        switch self {
        case .locations, .experiences, .shortCodes: true
        case .tenants, .clips, .keys, .domains, .revokedAttestKeys: false
        }
    }

    /// The columns of the primary key beside the tenant, in the order of a change's key.
    public var keyColumns: [any IndexColumn] { Array(columns.dropFirst().prefix(columnType.keyLength)) }

    /// The column that decides which rows are read: rows where it is null if `isNull` is true, otherwise rows where it is not null.
    public var condition: (column: String, isNull: Bool)? {
        switch self {
        case .keys: ("revoked_at", true)
        case .domains: ("proved_at", false)
        case .tenants, .clips, .locations, .experiences, .shortCodes, .revokedAttestKeys: nil
        }
    }

    private var columnType: any IndexColumn.Type {
        switch self {
        case .tenants: TenantColumn.self
        case .clips: ClipColumn.self
        case .keys: KeyColumn.self
        case .domains: DomainColumn.self
        case .locations: LocationColumn.self
        case .experiences: ExperienceColumn.self
        case .shortCodes: ShortCodeColumn.self
        case .revokedAttestKeys: RevokedAttestKeyColumn.self
        }
    }
}
