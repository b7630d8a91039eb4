-- A tenant has several webhooks, each told of the events that it wants; what they were told is kept for a week, attempt by
-- attempt; and one that fails for days is switched off.

-- Webhooks -------------------------------------------------------------------------------------------------------

ALTER TABLE doorstep.webhook_messages DROP CONSTRAINT webhook_messages_tenant_id_fkey;

-- Those that there are keep what they are told.
ALTER TABLE doorstep.webhooks
    ADD COLUMN webhook_id uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN events text[] COLLATE "C" NOT NULL DEFAULT '{deliveries.finished}',
    -- Since when no attempt was taken, the first of them included; NULL while it takes what it is sent.
    ADD COLUMN failing_since timestamptz,
    -- Nothing is kept for a webhook that is switched off, by itself after days of failing or by who manages it.
    ADD COLUMN disabled_at timestamptz,
    ADD COLUMN disabled_reason text,
    DROP CONSTRAINT webhooks_pkey,
    ADD PRIMARY KEY (tenant_id, webhook_id),
    ADD CONSTRAINT webhooks_events CHECK (
        cardinality(events) > 0
        AND events <@ ARRAY[
            'deliveries.finished', 'location.changed', 'experience.changed', 'domain.lapsed', 'key.revoked',
            'confirmation.recorded', 'webhook.disabled']),
    ADD CONSTRAINT webhooks_disabled_reason CHECK (
        (disabled_at IS NULL) = (disabled_reason IS NULL) AND char_length(disabled_reason) BETWEEN 1 AND 200);

ALTER TABLE doorstep.webhooks
    ALTER COLUMN webhook_id DROP DEFAULT,
    ALTER COLUMN events DROP DEFAULT;

-- Messages -------------------------------------------------------------------------------------------------------

ALTER TABLE doorstep.webhook_messages
    ADD COLUMN webhook_id uuid,
    ADD COLUMN type text COLLATE "C" NOT NULL DEFAULT 'deliveries.finished',
    ADD COLUMN state text COLLATE "C" NOT NULL DEFAULT 'waiting',
    -- When it began to wait: when it was made, or asked for again. It is given up so long after that.
    ADD COLUMN queued_at timestamptz,
    -- Each attempt as an object: when, how long it took, and the status or what there was instead.
    ADD COLUMN attempts jsonb NOT NULL DEFAULT '[]',
    ALTER COLUMN due_at DROP NOT NULL;

-- Row-level security is forced, so that the owner sees no tenant's rows either: it is let see these for as long as it takes to
-- give each message the one webhook that its tenant has.
ALTER TABLE doorstep.webhooks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhook_messages NO FORCE ROW LEVEL SECURITY;

UPDATE doorstep.webhook_messages AS m SET webhook_id = w.webhook_id, queued_at = m.created_at
FROM doorstep.webhooks AS w WHERE w.tenant_id = m.tenant_id;

ALTER TABLE doorstep.webhooks FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhook_messages FORCE ROW LEVEL SECURITY;

-- The same event has the same ID for every webhook that is told of it.
ALTER TABLE doorstep.webhook_messages
    ALTER COLUMN webhook_id SET NOT NULL,
    ALTER COLUMN type DROP DEFAULT,
    ALTER COLUMN queued_at SET DEFAULT now(),
    ALTER COLUMN queued_at SET NOT NULL,
    DROP CONSTRAINT webhook_messages_pkey,
    ADD PRIMARY KEY (tenant_id, webhook_id, message_id),
    ADD FOREIGN KEY (tenant_id, webhook_id) REFERENCES doorstep.webhooks ON DELETE CASCADE,
    ADD CONSTRAINT webhook_messages_type_length CHECK (char_length(type) BETWEEN 1 AND 64),
    ADD CONSTRAINT webhook_messages_state CHECK (state IN ('waiting', 'taken', 'given_up')),
    ADD CONSTRAINT webhook_messages_due CHECK ((due_at IS NOT NULL) = (state = 'waiting')),
    ADD CONSTRAINT webhook_messages_attempts_are_a_list CHECK (jsonb_typeof(attempts) = 'array');

-- What is due, from webhook to webhook; and what is old.
DROP INDEX doorstep.webhook_messages_due;
CREATE INDEX webhook_messages_due ON doorstep.webhook_messages (tenant_id, webhook_id, due_at)
    WHERE due_at IS NOT NULL;
CREATE INDEX webhook_messages_age ON doorstep.webhook_messages (tenant_id, created_at);

-- Audit log ------------------------------------------------------------------------------------------------------

-- As it was, but for `failing_since`, which the server writes: that a message was not taken is no change of a webhook.
CREATE OR REPLACE FUNCTION doorstep.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY['digest', 'last_used_on', 'sealed_secret', 'failing_since'];
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
$$;

CREATE OR REPLACE TRIGGER record_update AFTER UPDATE ON doorstep.webhooks
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, webhook_id');

-- Events ---------------------------------------------------------------------------------------------------------

-- Has the webhooks that want it told of what one statement changed, in the same transaction: one message, whose names are the
-- first hundred, however many there are. The trigger's arguments: the event, what the names are called, the key's columns, the
-- SQL expression of a name, and which of the changed rows count.
--
-- It runs as its owner, so that who changes a row need not be able to write a message; the tenant is the transaction's all
-- the same, and row-level security holds.
CREATE FUNCTION doorstep.tell_webhooks() RETURNS trigger
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
    count bigint;
    names jsonb;
BEGIN
    IF NOT EXISTS (
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
        INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, due_at)
        SELECT w.tenant_id, w.webhook_id, m.id, TG_ARGV[0], convert_to(
            jsonb_build_object(
                'id', m.id, 'type', TG_ARGV[0],
                'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'data', jsonb_build_object('action', lower(TG_OP), 'count', count, TG_ARGV[1], names))::text,
            'UTF8'), now()
        -- Locked, so that one that is being deleted is waited for and left out, in place of failing the change.
        FROM (
            SELECT tenant_id, webhook_id FROM doorstep.webhooks
            WHERE tenant_id = doorstep.current_tenant_id() AND disabled_at IS NULL AND TG_ARGV[0] = ANY (events)
            FOR KEY SHARE) AS w, (SELECT encode(id, 'hex')::uuid) AS m (id);
    END IF;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION doorstep.tell_webhooks() FROM PUBLIC;

DO $$
DECLARE
    told record;
    arguments text;
BEGIN
    FOR told IN
        SELECT * FROM (VALUES
            ('locations', 'location.changed', 'locations', 'tenant_id, identifier', 'n.identifier', 'true', true),
            ('experiences', 'experience.changed', 'experiences', 'tenant_id, kind, url',
                'jsonb_build_object(''kind'', n.kind, ''url'', n.url)', 'true', true),
            ('domains', 'domain.lapsed', 'domains', 'tenant_id, host', 'n.host',
                'o.lapsed_at IS NULL AND n.lapsed_at IS NOT NULL', false),
            ('api_keys', 'key.revoked', 'keys', 'tenant_id, key_id', 'n.key_id',
                'o.revoked_at IS NULL AND n.revoked_at IS NOT NULL', false)
        ) AS v (relation, event, member, key_columns, name, condition, are_all)
    LOOP
        arguments := format(
            '%L, %L, %L, %L, %L', told.event, told.member, told.key_columns, told.name, told.condition);
        EXECUTE format(
            'CREATE TRIGGER tell_webhooks_update AFTER UPDATE ON doorstep.%I
             REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(%s)', told.relation, arguments);
        CONTINUE WHEN NOT told.are_all;
        EXECUTE format(
            'CREATE TRIGGER tell_webhooks_insert AFTER INSERT ON doorstep.%I REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(%s)', told.relation, arguments);
        EXECUTE format(
            'CREATE TRIGGER tell_webhooks_delete AFTER DELETE ON doorstep.%I REFERENCING OLD TABLE AS old_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks(%s)', told.relation, arguments);
    END LOOP;
END
$$;

-- Restricted keys ------------------------------------------------------------------------------------------------

-- The server reads a key's locations joined by line feeds: one that held any would be read as several. Doorstep takes no
-- identifier with a control character; for a location's own that says it when it reads the row.
ALTER TABLE doorstep.api_keys ADD CONSTRAINT api_keys_locations_characters
    CHECK (array_to_string(locations, '') !~ '[\u0001-\u001F\u007F-\u009F]');

-- Privileges -----------------------------------------------------------------------------------------------------

-- The server writes down how messages fared, and switches off what fails for days.
GRANT UPDATE (state, attempts) ON doorstep.webhook_messages TO doorstep_app;
GRANT UPDATE (failing_since, disabled_at, disabled_reason) ON doorstep.webhooks TO doorstep_app;
-- Who manages reads what was sent, asks for it again, and sends a message to try.
GRANT SELECT, INSERT ON doorstep.webhook_messages TO doorstep_manager;
GRANT UPDATE (state, due_at, attempt, queued_at) ON doorstep.webhook_messages TO doorstep_admin, doorstep_manager;
GRANT UPDATE (events, failing_since, disabled_at, disabled_reason) ON doorstep.webhooks
    TO doorstep_admin, doorstep_manager;
GRANT SELECT (webhook_id, created_at) ON doorstep.webhook_messages TO doorstep_router;
