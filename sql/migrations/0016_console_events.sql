-- What is done at the console leaves a trace, and that trace does not stay for ever.

-- Acts --------------------------------------------------------------------------------------------------------------

-- Writes to the audit log what somebody has done to many rows at once of which no single change stands there: servers write
-- deliveries and messages too often. In the transaction that does it, so that neither is without the other.
CREATE FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) RETURNS void
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Whatever else there is, its triggers record: nobody says anything of that but by changing it.
    IF of_relation IS NULL OR of_relation NOT IN ('deliveries', 'webhook_messages') THEN
        RAISE invalid_parameter_value USING MESSAGE = 'acts are recorded of deliveries and webhook_messages alone';
    END IF;
    INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, before, after)
    VALUES (
        doorstep.current_tenant_id(), coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user), session_user,
        act, of_relation, meant, done);
END
$$;

REVOKE ALL ON FUNCTION doorstep.record_act(text, text, jsonb, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.record_act(text, text, jsonb, jsonb) TO doorstep_admin, doorstep_manager;

-- Events ------------------------------------------------------------------------------------------------------------

-- Deletes at most a thousand events that are older than so many days; who else does so at the same moment is not waited for.
CREATE FUNCTION doorstep.prune_console_events(retention integer) RETURNS integer
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pruned integer;
BEGIN
    IF retention IS NULL OR retention NOT BETWEEN 7 AND 36500 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'events of the console are kept for 7 to 36500 days';
    END IF;
    DELETE FROM doorstep.console_events
    WHERE event_id IN (
        SELECT event_id FROM doorstep.console_events
        WHERE at < now() - make_interval(days => retention)
        ORDER BY event_id LIMIT 1000 FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS pruned = ROW_COUNT;
    RETURN pruned;
END
$$;

-- The administration deletes no single event by itself.
REVOKE ALL ON FUNCTION doorstep.prune_console_events(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.prune_console_events(integer) TO doorstep_admin;
