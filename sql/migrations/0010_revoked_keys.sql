-- Keys of App Attest that are good for nothing any more, and which key an instance is of.

-- Revoked keys ---------------------------------------------------------------------------------------------------

-- Beside the keys, whose counters are written at each assertion: no such write is a change that servers read. A key may go
-- while its last tokens are good, so that none of these refers to it.
CREATE TABLE doorstep.revoked_attest_keys (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    key_id bytea NOT NULL,
    revoked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT revoked_attest_keys_key_id_length CHECK (octet_length(key_id) = 32)
);

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.revoked_attest_keys REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
-- Nobody may change one.
CREATE TRIGGER record_delete AFTER DELETE ON doorstep.revoked_attest_keys REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.revoked_attest_keys REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.revoked_attest_keys
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');
CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.revoked_attest_keys REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');
REVOKE TRUNCATE ON doorstep.revoked_attest_keys FROM doorstep_owner;

ALTER TABLE doorstep.revoked_attest_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.revoked_attest_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.revoked_attest_keys
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.revoked_attest_keys FOR SELECT TO doorstep_router USING (true);

GRANT SELECT (tenant_id, key_id) ON doorstep.revoked_attest_keys TO doorstep_router;
GRANT SELECT ON doorstep.revoked_attest_keys TO doorstep_app;
GRANT SELECT, INSERT ON doorstep.revoked_attest_keys TO doorstep_manager;
GRANT SELECT, INSERT, DELETE ON doorstep.revoked_attest_keys TO doorstep_admin;

-- What is shown of keys: not what they sign by, nor how often they did.
GRANT SELECT (tenant_id, key_id, bundle_id, environment, category, bundle_version, attested_on, last_used_on)
    ON doorstep.attest_keys TO doorstep_manager;

-- Instances ------------------------------------------------------------------------------------------------------

-- The key that registered an instance first, which no other key's report reaches; NULL for one that none has. No foreign
-- key: an instance whose key is gone is still no other key's.
ALTER TABLE doorstep.instances
    ADD COLUMN attest_key_id bytea,
    ADD CONSTRAINT instances_attest_key_id_length CHECK (octet_length(attest_key_id) = 32) NOT VALID;

GRANT UPDATE (attest_key_id) ON doorstep.instances TO doorstep_app;
