-- Listeners read a tenant's events by long polling. Events are recorded only while somebody listens, and for an hour.

-- Until when the tenant's events are recorded.
CREATE TABLE doorstep.event_recordings (
    tenant_id uuid NOT NULL PRIMARY KEY REFERENCES doorstep.tenants ON DELETE CASCADE,
    ends_at timestamptz NOT NULL,
    -- A reader whose snapshot ended before this transaction may have missed events: they are deleted, or were not recorded.
    first_xid xid8 NOT NULL
);

-- A reader gets the events that its last snapshot did not see, so transactions may end in any order.
CREATE TABLE doorstep.events (
    tenant_id uuid NOT NULL REFERENCES doorstep.event_recordings ON DELETE CASCADE,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    message_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, xid, message_id),
    CONSTRAINT events_type_length CHECK (char_length(type) BETWEEN 1 AND 64)
);

ALTER TABLE doorstep.event_recordings ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.event_recordings FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.event_recordings
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
-- Whose recordings ended long ago.
CREATE POLICY router_reads ON doorstep.event_recordings FOR SELECT TO doorstep_router USING (true);
ALTER TABLE doorstep.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.events FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.events
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));

GRANT SELECT (tenant_id, ends_at) ON doorstep.event_recordings TO doorstep_router;
-- The update is required to lock a row.
GRANT SELECT, DELETE, UPDATE (ends_at) ON doorstep.event_recordings TO doorstep_app;
GRANT SELECT, INSERT, UPDATE (ends_at, first_xid) ON doorstep.event_recordings TO doorstep_admin, doorstep_manager;
GRANT SELECT, INSERT ON doorstep.events TO doorstep_app;
GRANT SELECT, INSERT, DELETE ON doorstep.events TO doorstep_admin, doorstep_manager;

-- Also records the event for listeners.
CREATE OR REPLACE FUNCTION doorstep.tell_webhooks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    changed text := CASE TG_OP
        WHEN 'INSERT' THEN format('SELECT %s FROM new_rows AS n', TG_ARGV[3])
        WHEN 'DELETE' THEN format('SELECT %s FROM old_rows AS n', TG_ARGV[3])
        ELSE format(
            'SELECT %s FROM new_rows AS n JOIN old_rows AS o USING (%s) WHERE n IS DISTINCT FROM o AND (%s)',
            TG_ARGV[3], TG_ARGV[2], TG_ARGV[4])
    END;
    -- Of version 7 (RFC 9562), so that messages are listed in the order of time.
    id bytea := int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    is_recorded boolean := EXISTS (
        SELECT FROM doorstep.event_recordings
        WHERE tenant_id = doorstep.current_tenant_id() AND ends_at > now());
    message uuid;
    message_body bytea;
    count bigint;
    names jsonb;
BEGIN
    IF NOT is_recorded AND NOT EXISTS (
        SELECT FROM doorstep.webhooks
        WHERE tenant_id = doorstep.current_tenant_id() AND disabled_at IS NULL AND TG_ARGV[0] = ANY (events)
    ) THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'WITH c (name) AS MATERIALIZED (%s)
         SELECT (SELECT count(*) FROM c),
             (SELECT jsonb_agg(name) FROM (SELECT name FROM c ORDER BY name LIMIT 100) AS f)', changed)
    INTO count, names;
    IF count > 0 THEN
        id := substr(id, 3) || substr(uuid_send(gen_random_uuid()), 7);
        id := set_byte(id, 6, get_byte(id, 6) & 15 | 112);
        message := encode(id, 'hex')::uuid;
        message_body := convert_to(
            jsonb_build_object(
                'id', message, 'type', TG_ARGV[0],
                'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'data', jsonb_build_object('action', lower(TG_OP), 'count', count, TG_ARGV[1], names))::text,
            'UTF8');
        INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, due_at)
        SELECT w.tenant_id, w.webhook_id, message, TG_ARGV[0], message_body, now()
        -- Locked, so that one that is being deleted is waited for and left out, in place of failing the change.
        FROM (
            SELECT tenant_id, webhook_id FROM doorstep.webhooks
            WHERE tenant_id = doorstep.current_tenant_id() AND disabled_at IS NULL AND TG_ARGV[0] = ANY (events)
            FOR KEY SHARE) AS w;
        IF is_recorded THEN
            INSERT INTO doorstep.events (tenant_id, message_id, type, body)
            SELECT r.tenant_id, message, TG_ARGV[0], message_body
            -- Locked, so that one that is being deleted is waited for and left out, too.
            FROM (
                SELECT tenant_id FROM doorstep.event_recordings
                WHERE tenant_id = doorstep.current_tenant_id() FOR KEY SHARE) AS r
            -- As many as the servers record at most.
            WHERE 10000 > (
                SELECT count(*) FROM (
                    SELECT FROM doorstep.events WHERE tenant_id = doorstep.current_tenant_id() LIMIT 10000) AS e);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
