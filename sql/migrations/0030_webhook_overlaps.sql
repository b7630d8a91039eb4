-- After a rotation, the previous secret of a webhook signs messages too, for as long as the rotation asked for.
ALTER TABLE doorstep.webhooks
    -- Sealed like the secret. The servers ignore it after its end; the next rotation or resealing deletes it.
    ADD COLUMN previous_sealed_secret bytea,
    ADD COLUMN previous_secret_ends_at timestamptz,
    ADD CONSTRAINT webhooks_previous_sealed_secret_length CHECK (octet_length(previous_sealed_secret) BETWEEN 33 AND 512),
    ADD CONSTRAINT webhooks_previous_secret_ends CHECK (
        previous_sealed_secret IS NULL OR previous_secret_ends_at IS NOT NULL);

GRANT UPDATE (previous_sealed_secret, previous_secret_ends_at) ON doorstep.webhooks TO doorstep_admin, doorstep_manager;

-- The audit log does not contain the previous secret either.
CREATE OR REPLACE FUNCTION doorstep.record_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $_$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY[
        'digest', 'last_used_on', 'sealed_secret', 'previous_sealed_secret', 'failing_since', 'checked_at'];
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
