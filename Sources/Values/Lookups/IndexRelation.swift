/// What a routing table is made from: tables of the schema, and of each the columns that matter here.
///
/// What a relation is made of is said once, in its ``IndexColumn``s: how its rows are asked for, what a row's fields
/// are and in which order, and what a saved table holds. The grants and triggers of the schema are held to it by a test.
public enum IndexRelation: String, Sendable, Hashable, CaseIterable {
    case tenants
    case clips
    /// Those that are not revoked.
    case keys = "api_keys"
    /// Those that are proved.
    case domains
    case locations
    case experiences
    case shortCodes = "short_codes"
    /// Keys of App Attest that are good for nothing any more.
    case revokedAttestKeys = "revoked_attest_keys"

    /// In the order of a row's fields; the tenant's ID is the first of each relation.
    public var columns: [any IndexColumn] { columnType.list }

    /// Whether a tenant may have very many rows of it.
    ///
    /// The other relations decide who may ask, and for what: the feed applies their changes first.
    public var isCatalogue: Bool {
        switch self {
        case .locations, .experiences, .shortCodes: true
        case .tenants, .clips, .keys, .domains, .revokedAttestKeys: false
        }
    }

    /// The columns of the primary key beside the tenant, in the order of a change's key.
    public var keyColumns: [any IndexColumn] { Array(columns.dropFirst().prefix(columnType.keyLength)) }

    /// A column that says which rows are to be left out, by whether it is null.
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
