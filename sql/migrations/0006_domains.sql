-- Domains that tenants have proved, which every server answers for.

-- No program has proved a domain before this.
ALTER TABLE doorstep.domains
    ADD COLUMN method text COLLATE "C",
    ADD COLUMN checked_at timestamptz,
    -- Since when a proof is missing that was there: at a check after the time of grace `proved_at` goes too.
    ADD COLUMN lapsed_at timestamptz,
    ADD CONSTRAINT domains_method CHECK (method IN ('dns', 'file')),
    ADD CONSTRAINT domains_proof CHECK ((proved_at IS NULL) = (method IS NULL));

-- Servers follow which hosts are proved, and who a clip's ID in a site's association file is.
CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.domains REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host');
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.domains
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host', 'proved_at');
CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.domains REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host');
REVOKE TRUNCATE ON doorstep.domains FROM doorstep_owner;

DROP TRIGGER record_routing_update ON doorstep.clips;
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.clips
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT
    EXECUTE FUNCTION doorstep.record_routing_change('bundle_id', 'parent_bundle_id, team_id, multi_business');

CREATE POLICY router_reads ON doorstep.domains FOR SELECT TO doorstep_router USING (true);

GRANT UPDATE (method, checked_at, lapsed_at) ON doorstep.domains TO doorstep_admin;
GRANT SELECT (tenant_id, host, proved_at) ON doorstep.domains TO doorstep_router;
GRANT SELECT (parent_bundle_id, team_id) ON doorstep.clips TO doorstep_router;
