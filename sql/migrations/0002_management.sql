-- Keys say in full what they may do, and a tenant's catalogue can be managed from the server.

-- Scopes ---------------------------------------------------------------------------------------------------------

-- A key without scopes had all of its kind. It keeps what that was, and gains none of those that are new.
--
-- Row-level security is forced, so that the owner sees no tenant's rows either: it is let see these for as long as it takes to
-- find whose they are. Each tenant's are changed as that tenant's, for the audit log.
ALTER TABLE doorstep.api_keys NO FORCE ROW LEVEL SECURITY;

DO $$
DECLARE
    tenant uuid;
BEGIN
    PERFORM set_config('doorstep.actor', 'migration:2', true);
    FOR tenant IN SELECT DISTINCT tenant_id FROM doorstep.api_keys WHERE scopes IS NULL LOOP
        PERFORM set_config('doorstep.tenant_id', tenant::text, true);
        UPDATE doorstep.api_keys
        SET scopes = CASE kind
            WHEN 'publishable' THEN ARRAY['look_up', 'confirm', 'register']
            ELSE ARRAY['look_up', 'confirm', 'compose', 'register', 'notify'] END
        WHERE tenant_id = tenant AND scopes IS NULL;
    END LOOP;
    PERFORM set_config('doorstep.tenant_id', '', true), set_config('doorstep.actor', '', true);
END
$$;

ALTER TABLE doorstep.api_keys
    FORCE ROW LEVEL SECURITY,
    ALTER COLUMN scopes SET NOT NULL,
    DROP CONSTRAINT api_keys_scopes,
    ADD CONSTRAINT api_keys_scopes CHECK (
        cardinality(scopes) > 0
        AND scopes <@ CASE kind
            WHEN 'publishable' THEN ARRAY['look_up', 'confirm', 'register']
            ELSE ARRAY['look_up', 'confirm', 'compose', 'register', 'notify', 'read', 'manage', 'manage_keys'] END);

-- Who manages one tenant's catalogue -----------------------------------------------------------------------------

-- Under the policy of every table, and without one that lists tenants. Of a key it sees all but the digest; a tenant's limits
-- and whether it is suspended are the operator's to change.
GRANT USAGE ON SCHEMA doorstep TO doorstep_manager;
GRANT SELECT ON doorstep.tenants, doorstep.clips, doorstep.domains, doorstep.locations, doorstep.experiences,
    doorstep.short_codes, doorstep.webhooks, doorstep.confirmations, doorstep.instances, doorstep.launches,
    doorstep.channels, doorstep.notifications, doorstep.deliveries, doorstep.audit_log TO doorstep_manager;
GRANT SELECT (tenant_id, key_id, kind, hint, created_at, expires_at, revoked_at, last_used_on, scopes, successor_id)
    ON doorstep.api_keys TO doorstep_manager;
GRANT SELECT (tenant_id, instance_id, kind, name, registered_at, retired_at) ON doorstep.push_tokens
    TO doorstep_manager;
GRANT INSERT ON doorstep.clips, doorstep.domains, doorstep.locations, doorstep.experiences, doorstep.short_codes,
    doorstep.api_keys, doorstep.webhooks TO doorstep_manager;
-- Instances and channels go with their clip.
GRANT DELETE ON doorstep.clips, doorstep.domains, doorstep.locations, doorstep.experiences, doorstep.short_codes,
    doorstep.webhooks, doorstep.instances, doorstep.channels TO doorstep_manager;
GRANT UPDATE (name, collapse_policy) ON doorstep.tenants TO doorstep_manager;
GRANT UPDATE (parent_bundle_id, team_id, app_id_prefix, multi_business) ON doorstep.clips TO doorstep_manager;
GRANT UPDATE (challenge, claimed_at, proved_at, method, checked_at, lapsed_at, content) ON doorstep.domains
    TO doorstep_manager;
GRANT UPDATE (name, latitude, longitude, radius, metadata) ON doorstep.locations TO doorstep_manager;
GRANT UPDATE (bundle_id, location_identifier, identifier_rule, title, subtitle) ON doorstep.experiences
    TO doorstep_manager;
GRANT UPDATE (url) ON doorstep.short_codes TO doorstep_manager;
GRANT UPDATE (expires_at, revoked_at, successor_id) ON doorstep.api_keys TO doorstep_manager;
GRANT UPDATE (url, sealed_secret, secret_changed_at) ON doorstep.webhooks TO doorstep_manager;
