-- How often a tenant's keys may be used, and what of its kind's rights a key has. NULL leaves it to the server's settings.

ALTER TABLE doorstep.tenants
    -- Of each key, requests a second in the long run, and at once.
    ADD COLUMN key_rate integer,
    ADD COLUMN key_burst integer,
    -- Of each client address that uses the tenant's publishable keys.
    ADD COLUMN client_rate integer,
    ADD COLUMN client_burst integer,
    ADD CONSTRAINT tenants_key_limit_range CHECK (key_rate BETWEEN 1 AND 1000000 AND key_burst BETWEEN 1 AND 1000000),
    ADD CONSTRAINT tenants_key_limit_is_whole CHECK (num_nonnulls(key_rate, key_burst) <> 1),
    ADD CONSTRAINT tenants_client_limit_range
        CHECK (client_rate BETWEEN 1 AND 1000000 AND client_burst BETWEEN 1 AND 1000000),
    ADD CONSTRAINT tenants_client_limit_is_whole CHECK (num_nonnulls(client_rate, client_burst) <> 1);

ALTER TABLE doorstep.api_keys
    ADD COLUMN scopes text[] COLLATE "C",
    ADD CONSTRAINT api_keys_scopes CHECK (
        cardinality(scopes) > 0
        AND scopes <@ CASE kind
            WHEN 'publishable' THEN ARRAY['look_up', 'confirm'] ELSE ARRAY['look_up', 'confirm', 'compose'] END);

-- What a trigger looks at is told to it when it is made.
DROP TRIGGER record_routing_update ON doorstep.tenants;
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.tenants
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(
        '', 'suspended_at, key_rate, key_burst, client_rate, client_burst');

GRANT UPDATE (key_rate, key_burst, client_rate, client_burst) ON doorstep.tenants TO doorstep_admin;
GRANT SELECT (key_rate, key_burst, client_rate, client_burst) ON doorstep.tenants TO doorstep_router;
GRANT SELECT (scopes) ON doorstep.api_keys TO doorstep_router;

-- The server notes on which day a key was used last; of a key it sees no more than that.
GRANT SELECT (tenant_id, key_id, last_used_on), UPDATE (last_used_on) ON doorstep.api_keys TO doorstep_app;
