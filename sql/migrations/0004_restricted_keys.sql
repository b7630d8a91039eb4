-- Keys can be restricted to locations, and the audit log has an end where its operator wants one.

-- Restricted keys ------------------------------------------------------------------------------------------------

-- What a secret key is restricted to; NULL for all that its tenant has. It manages nothing, since what is managed is of the
-- whole tenant. No foreign key: a key neither keeps a location from being deleted nor gains anything by it, but may do
-- nothing for one that is not there.
ALTER TABLE doorstep.api_keys
    ADD COLUMN locations text[] COLLATE "C",
    ADD CONSTRAINT api_keys_locations CHECK (
        locations IS NULL
        OR cardinality(locations) BETWEEN 1 AND 100 AND array_position(locations, NULL) IS NULL
            AND '' <> ALL (locations) AND kind = 'secret' AND NOT scopes && ARRAY['manage', 'manage_keys']);

GRANT SELECT (locations) ON doorstep.api_keys TO doorstep_manager, doorstep_router;

-- Retention of the audit log -------------------------------------------------------------------------------------

CREATE INDEX audit_log_at ON doorstep.audit_log (at);

-- For the function below: nothing of the last week, whatever it is told.
CREATE POLICY owner_prunes ON doorstep.audit_log FOR DELETE TO doorstep_owner USING (at < now() - interval '7 days');
CREATE POLICY owner_finds_what_to_prune ON doorstep.audit_log FOR SELECT TO doorstep_owner
    USING (at < now() - interval '7 days');

-- Deletes up to 1,000 entries that are older than so many days, and returns how many.
--
-- Nobody has the right to delete an entry, the owner neither: it has it for as long as this takes, which nobody else sees.
-- Two at once would change the table's rights at once: the second leaves it to the first.
CREATE FUNCTION doorstep.prune_audit_log(retention integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    pruned integer;
BEGIN
    IF retention IS NULL OR retention NOT BETWEEN 7 AND 36500 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the audit log is kept for 7 to 36500 days';
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('doorstep.prune_audit_log', 0))
        OR NOT EXISTS (SELECT FROM doorstep.audit_log WHERE at < now() - make_interval(days => retention)) THEN
        RETURN 0;
    END IF;
    GRANT DELETE ON doorstep.audit_log TO doorstep_owner;
    DELETE FROM doorstep.audit_log
    WHERE at < now() - make_interval(days => retention) AND ctid = ANY (ARRAY(
        SELECT ctid FROM doorstep.audit_log
        WHERE at < now() - make_interval(days => retention)
        ORDER BY at LIMIT 1000));
    GET DIAGNOSTICS pruned = ROW_COUNT;
    REVOKE DELETE ON doorstep.audit_log FROM doorstep_owner;
    RETURN pruned;
END
$$;

REVOKE ALL ON FUNCTION doorstep.prune_audit_log(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.prune_audit_log(integer) TO doorstep_router;
