-- The server checks each proof of a domain again from time to time, one server of many for each domain. A tenant whose proof is
-- found although another tenant holds the domain contests it, and the holder's proof is checked at once.

-- The claim's side: since when its proof is found although another tenant holds the domain. The holder's side: since when another
-- tenant's claim contests it.
ALTER TABLE doorstep.domains ADD COLUMN contested_at timestamptz;

GRANT UPDATE (contested_at) ON doorstep.domains TO doorstep_admin, doorstep_manager;
-- Which proofs are due, of all tenants.
GRANT SELECT (checked_at, contested_at) ON doorstep.domains TO doorstep_router;

CREATE TABLE doorstep.domain_checks (
    tenant_id uuid NOT NULL,
    host text COLLATE "C" NOT NULL,
    -- The time of the next check; during a check, the time from which the check counts as lost.
    due_at timestamptz NOT NULL,
    -- When the last check began; NULL before the first one.
    began_at timestamptz,
    PRIMARY KEY (tenant_id, host),
    FOREIGN KEY (tenant_id, host) REFERENCES doorstep.domains ON DELETE CASCADE
);

ALTER TABLE doorstep.domain_checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.domain_checks FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.domain_checks
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.domain_checks FOR SELECT TO doorstep_router USING (true);
GRANT SELECT, INSERT, UPDATE (due_at, began_at) ON doorstep.domain_checks TO doorstep_app;
GRANT SELECT ON doorstep.domain_checks TO doorstep_admin, doorstep_manager;
GRANT SELECT (tenant_id, host, due_at, began_at) ON doorstep.domain_checks TO doorstep_router;

-- Webhooks -------------------------------------------------------------------------------------------------------

ALTER TABLE doorstep.webhooks
    DROP CONSTRAINT webhooks_events,
    ADD CONSTRAINT webhooks_events CHECK (
        cardinality(events) > 0
        AND events <@ ARRAY[
            'deliveries.finished', 'location.changed', 'experience.changed', 'domain.proved', 'domain.contested',
            'domain.lapsed', 'domain.withdrawn', 'key.revoked', 'confirmation.recorded', 'webhook.disabled',
            'appstore.drift']);

CREATE TRIGGER tell_webhooks_contested AFTER UPDATE ON doorstep.domains
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(
        'domain.contested', 'domains', 'tenant_id, host', 'n.host',
        'o.contested_at IS NULL AND n.contested_at IS NOT NULL');
CREATE TRIGGER tell_webhooks_proved AFTER UPDATE ON doorstep.domains
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(
        'domain.proved', 'domains', 'tenant_id, host', 'n.host', 'o.proved_at IS NULL AND n.proved_at IS NOT NULL');
CREATE TRIGGER tell_webhooks_withdrawn AFTER UPDATE ON doorstep.domains
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(
        'domain.withdrawn', 'domains', 'tenant_id, host', 'n.host', 'o.proved_at IS NOT NULL AND n.proved_at IS NULL');

-- The audit log ---------------------------------------------------------------------------------------------------

-- A check that finds a proof as before changes nothing but the time of the check, which the audit log leaves out.
CREATE OR REPLACE FUNCTION doorstep.record_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $_$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY['digest', 'last_used_on', 'sealed_secret', 'failing_since', 'checked_at'];
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, after)
        SELECT n.tenant_id, actor, session_user, 'insert', TG_TABLE_NAME, to_jsonb(n) - hidden FROM new_rows n;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, before)
        SELECT o.tenant_id, actor, session_user, 'delete', TG_TABLE_NAME, to_jsonb(o) - hidden FROM old_rows o;
    ELSE
        EXECUTE format(
            'INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, before, after)
             SELECT tenant_id, $1, session_user, ''update'', $2, to_jsonb(o) - $3, to_jsonb(n) - $3
             FROM old_rows o JOIN new_rows n USING (%s)
             WHERE to_jsonb(o) - $3 IS DISTINCT FROM to_jsonb(n) - $3', TG_ARGV[0])
        USING actor, TG_TABLE_NAME, hidden;
    END IF;
    RETURN NULL;
END
$_$;
