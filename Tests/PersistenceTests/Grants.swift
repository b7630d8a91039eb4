/// What each role of Doorstep may do in the schema; the owner's own rights are left out.
///
/// Held against the database by a test: a grant more is as much a failure as one less.
enum Grants {
    /// Columns are listed where a grant is for some columns only.
    static let expected = """
        doorstep_admin DELETE api_keys
        doorstep_admin DELETE clips
        doorstep_admin DELETE confirmations
        doorstep_admin DELETE domains
        doorstep_admin DELETE experiences
        doorstep_admin DELETE locations
        doorstep_admin DELETE short_codes
        doorstep_admin DELETE tenants
        doorstep_admin INSERT api_keys
        doorstep_admin INSERT clips
        doorstep_admin INSERT domains
        doorstep_admin INSERT experiences
        doorstep_admin INSERT locations
        doorstep_admin INSERT short_codes
        doorstep_admin INSERT tenants
        doorstep_admin SELECT api_keys
        doorstep_admin SELECT audit_log
        doorstep_admin SELECT clips
        doorstep_admin SELECT confirmations
        doorstep_admin SELECT domains
        doorstep_admin SELECT experiences
        doorstep_admin SELECT locations
        doorstep_admin SELECT schema_migrations
        doorstep_admin SELECT short_codes
        doorstep_admin SELECT tenants
        doorstep_admin UPDATE api_keys (expires_at, revoked_at)
        doorstep_admin UPDATE clips (multi_business, parent_bundle_id, team_id)
        doorstep_admin UPDATE domains (challenge, checked_at, claimed_at, lapsed_at, method, proved_at)
        doorstep_admin UPDATE experiences (bundle_id, identifier_rule, location_identifier, subtitle, title)
        doorstep_admin UPDATE locations (latitude, longitude, metadata, name, radius)
        doorstep_admin UPDATE short_codes (url)
        doorstep_admin UPDATE tenants (client_burst, client_rate, key_burst, key_rate, name, suspended_at)
        doorstep_admin USAGE doorstep
        doorstep_app INSERT confirmations
        doorstep_app SELECT api_keys (key_id, last_used_on, tenant_id)
        doorstep_app SELECT clips
        doorstep_app SELECT domains
        doorstep_app SELECT experiences
        doorstep_app SELECT locations
        doorstep_app SELECT schema_migrations
        doorstep_app SELECT short_codes
        doorstep_app SELECT tenants
        doorstep_app UPDATE api_keys (last_used_on)
        doorstep_app USAGE doorstep
        doorstep_router EXECUTE add_confirmation_days()
        doorstep_router EXECUTE drop_confirmation_days(integer)
        doorstep_router EXECUTE index_confirmation_days()
        doorstep_router EXECUTE prune_changes()
        doorstep_router SELECT api_keys (digest, expires_at, key_id, kind, revoked_at, scopes, tenant_id)
        doorstep_router SELECT change_horizon
        doorstep_router SELECT changes
        doorstep_router SELECT clips (bundle_id, multi_business, parent_bundle_id, team_id, tenant_id)
        doorstep_router SELECT domains (host, proved_at, tenant_id)
        doorstep_router SELECT experiences (bundle_id, identifier_rule, kind, location_identifier, tenant_id, url)
        doorstep_router SELECT locations (identifier, latitude, longitude, name, radius, tenant_id)
        doorstep_router SELECT short_codes (code, tenant_id, url)
        doorstep_router SELECT tenants (client_burst, client_rate, key_burst, key_rate, slug, suspended_at, tenant_id)
        doorstep_router USAGE doorstep
        public EXECUTE current_tenant_id()
        """
}
