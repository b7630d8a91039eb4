/// What a routing table is made from: tables of the schema, and of each the columns that matter here.
///
/// A row's fields come in the order given, each in the binary form of its PostgreSQL type.
public enum RoutingRelation: String, Sendable, Hashable, CaseIterable {
    /// `tenant_id uuid, is_suspended boolean`, and its limits as pairs of `bigint`, nullable: `key_rate, key_burst,
    /// client_rate, client_burst, new_instance_rate, new_instance_burst, client_new_instance_rate,
    /// client_new_instance_burst`; its key is the tenant alone.
    case tenants
    /// `tenant_id uuid, bundle_id text, multi_business boolean, team_id text, parent_bundle_id text,
    /// app_id_prefix text`; its key is `bundle_id`.
    case clips
    /// `tenant_id uuid, key_id uuid, kind text, digest bytea, expires_at timestamptz, scopes text` (separated by commas),
    /// the last two nullable, of keys that are not revoked; its key is `key_id`.
    case keys = "api_keys"
    /// `tenant_id uuid, host text, content text` (JSON, nullable), of domains that are proved; its key is `host`.
    case domains
    /// `tenant_id uuid, identifier text, name text, latitude, longitude, radius double precision`; its key is
    /// `identifier`.
    case locations
    /// `tenant_id uuid, kind text, url text, bundle_id text, location_identifier text, identifier_rule text`, the last
    /// two nullable; its key is `kind, url`.
    case experiences
    /// `tenant_id uuid, code text, url text`; its key is `code`.
    case shortCodes = "short_codes"

    /// How many fields a row has.
    public var fieldCount: Int {
        switch self {
        case .domains, .shortCodes: 3
        case .clips, .keys, .locations, .experiences: 6
        case .tenants: 10
        }
    }
}
