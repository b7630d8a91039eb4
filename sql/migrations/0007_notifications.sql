-- Which instances of a clip were launched where, and what is sent to them.
--
-- The rows are written by the server (doorstep_app), thousands a second, and pruned by age; so but for the
-- webhooks, which an operator registers, none of these tables is audited.

-- Notifications that share no collapse ID are shown one by one. A tenant may have them collapse by themselves: all of
-- one business, or all of one URL.
ALTER TABLE doorstep.tenants
    ADD COLUMN collapse_policy text COLLATE "C" NOT NULL DEFAULT 'none',
    ADD CONSTRAINT tenants_collapse_policy CHECK (collapse_policy IN ('none', 'business', 'url'));

-- What a key may do beside what it could before.
ALTER TABLE doorstep.api_keys
    DROP CONSTRAINT api_keys_scopes,
    ADD CONSTRAINT api_keys_scopes CHECK (
        cardinality(scopes) > 0
        AND scopes <@ CASE kind
            WHEN 'publishable' THEN ARRAY['look_up', 'confirm', 'register']
            ELSE ARRAY['look_up', 'confirm', 'compose', 'register', 'notify'] END);

-- Instances ---------------------------------------------------------------------------------------------------

-- A clip on a device, or the full app that took its place.
CREATE TABLE doorstep.instances (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    -- The clip's own choice.
    instance_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    app text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    permission text COLLATE "C" NOT NULL,
    -- Of the latest launch.
    launched_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, instance_id),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips,
    CONSTRAINT instances_app CHECK (app IN ('clip', 'full')),
    CONSTRAINT instances_environment CHECK (environment IN ('production', 'sandbox')),
    CONSTRAINT instances_permission CHECK (permission IN ('ephemeral', 'authorized', 'provisional', 'denied'))
);

-- The predicates of the indexes below are always so. They keep an index to the statements that have a condition on its
-- column, which implies them: where PostgreSQL knows nothing of a table yet, or most tenants have little in it, any index that
-- begins with the tenant looks as good as the key, and a large tenant's rows would be read for one of them.

-- What is not launched any more is pruned.
CREATE INDEX instances_launched_at ON doorstep.instances (tenant_id, launched_at) WHERE launched_at IS NOT NULL;

-- The latest launch by each invocation URL. Neither experience nor location is a foreign key: a launch must not keep
-- either from being deleted. A launch by a URL that carries a signed place has no location: that would be a coordinate.
CREATE TABLE doorstep.launches (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    -- Canonical, without fragment; the registered URL of the experience in place of one that carries a place.
    url text COLLATE "C" NOT NULL,
    experience_url text COLLATE "C" NOT NULL,
    location_identifier text COLLATE "C",
    launched_at timestamptz NOT NULL,
    -- The minute of a confirmation at the location.
    confirmed_at timestamptz,
    PRIMARY KEY (tenant_id, instance_id, url),
    FOREIGN KEY (tenant_id, instance_id) REFERENCES doorstep.instances ON DELETE CASCADE,
    CONSTRAINT launches_url_form CHECK (starts_with(url, 'https://') AND octet_length(url) <= 2048),
    CONSTRAINT launches_experience_url_length CHECK (octet_length(experience_url) <= 2048),
    CONSTRAINT launches_location_length CHECK (char_length(location_identifier) BETWEEN 1 AND 128),
    CONSTRAINT launches_confirmed_at_is_of_location CHECK (confirmed_at IS NULL OR location_identifier IS NOT NULL)
);

-- The audiences: who was launched at a business, and who by a URL that begins with another.
CREATE INDEX launches_location ON doorstep.launches (tenant_id, location_identifier, launched_at)
    WHERE location_identifier IS NOT NULL;
CREATE INDEX launches_experience ON doorstep.launches (tenant_id, experience_url, launched_at)
    WHERE experience_url IS NOT NULL;
CREATE INDEX launches_url ON doorstep.launches (tenant_id, url) WHERE url IS NOT NULL;

-- What APNs knows an instance by: the device's token, the token that starts Live Activities of a type, and the token of
-- each activity. Sealed (AES-GCM) with a key that the database does not have, and found by an HMAC.
CREATE TABLE doorstep.push_tokens (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    -- The type of the attributes for a start token, the activity's ID for an activity's, '' for a device's.
    name text COLLATE "C" NOT NULL DEFAULT '',
    digest bytea NOT NULL,
    sealed bytea NOT NULL,
    registered_at timestamptz NOT NULL,
    -- Since when APNs or a later registration says that it is of no use.
    retired_at timestamptz,
    PRIMARY KEY (tenant_id, instance_id, kind, name),
    FOREIGN KEY (tenant_id, instance_id) REFERENCES doorstep.instances ON DELETE CASCADE,
    CONSTRAINT push_tokens_kind CHECK (kind IN ('device', 'start', 'activity')),
    CONSTRAINT push_tokens_name CHECK ((kind = 'device') = (name = '') AND char_length(name) <= 128),
    CONSTRAINT push_tokens_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT push_tokens_sealed_length CHECK (octet_length(sealed) BETWEEN 33 AND 512)
);

-- For who says so: who has the key compares the digest too.
CREATE INDEX push_tokens_digest ON doorstep.push_tokens (tenant_id, digest) WHERE digest <> '';
-- What is over, for APNs does not say so of an activity's token.
CREATE INDEX push_tokens_activity ON doorstep.push_tokens (tenant_id, registered_at)
    WHERE kind = 'activity' AND registered_at IS NOT NULL;

-- The broadcast channels that a tenant has had APNs create.
CREATE TABLE doorstep.channels (
    tenant_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    -- As APNs gave it.
    channel_id text COLLATE "C" NOT NULL,
    -- Whether APNs keeps the last message for who was away.
    stores_last_message boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bundle_id, environment, channel_id),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips,
    CONSTRAINT channels_environment CHECK (environment IN ('production', 'sandbox')),
    CONSTRAINT channels_channel_id_length CHECK (octet_length(channel_id) BETWEEN 1 AND 128)
);

-- Notifications -----------------------------------------------------------------------------------------------

-- Partitioned by the day (UTC) of their making. The ID is a UUID of version 7 whose time is `created_at`, so that who has
-- the ID has the partition.
CREATE TABLE doorstep.notifications (
    tenant_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    notification_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    -- The target, and what it matches.
    url text COLLATE "C" NOT NULL,
    experience_url text COLLATE "C" NOT NULL,
    location_identifier text COLLATE "C",
    -- As it was asked for.
    audience jsonb NOT NULL,
    push_type text COLLATE "C" NOT NULL,
    priority smallint NOT NULL,
    collapse_id text COLLATE "C",
    -- As it was asked for, in seconds since 1970; a delivery's own is never later.
    expiration bigint,
    payload bytea NOT NULL,
    warnings jsonb NOT NULL DEFAULT '[]',
    -- As for deliveries.
    PRIMARY KEY (notification_id, tenant_id, created_at),
    CONSTRAINT notifications_url_length CHECK (octet_length(url) <= 2048),
    CONSTRAINT notifications_push_type CHECK (push_type IN ('alert', 'liveactivity')),
    CONSTRAINT notifications_priority CHECK (priority IN (1, 5, 10)),
    CONSTRAINT notifications_collapse_id_length CHECK (octet_length(collapse_id) BETWEEN 1 AND 64),
    CONSTRAINT notifications_expiration_range CHECK (expiration >= 0),
    CONSTRAINT notifications_payload_length CHECK (octet_length(payload) BETWEEN 1 AND 5120)
) PARTITION BY RANGE (created_at);

-- For who says so.
CREATE INDEX notifications_tenant ON doorstep.notifications (tenant_id) WHERE push_type <> '';

-- What became of a notification for each instance, or for the channel, that it was for: the outbox.
--
-- `skipped` was decided at once and never sent. `queued` waits until `due_at`. `sending` is lent to a server until
-- `due_at`, after which any may take it again; `attempt` counts the loans, and is the fencing number: a server that comes
-- back too late finds another. The others are final.
--
-- It has the day of its notification, and goes with it; there is no foreign key, which would be checked row by row.
CREATE TABLE doorstep.deliveries (
    tenant_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    notification_id uuid NOT NULL,
    -- The `apns-id` of every attempt; of version 7 too, with the notification's time, so that those of one are found by it.
    delivery_id uuid NOT NULL,
    -- NULL for a broadcast.
    instance_id uuid,
    -- Which of the instance's tokens, or which channel.
    token_kind text COLLATE "C" NOT NULL,
    token_name text COLLATE "C" NOT NULL DEFAULT '',
    environment text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    -- Why it was skipped, or what APNs or the connection said last.
    reason text COLLATE "C",
    due_at timestamptz,
    attempt smallint NOT NULL DEFAULT 0,
    -- Of how many attempts no answer came back.
    lost_replies smallint NOT NULL DEFAULT 0,
    -- When there is no more point in sending it.
    expires_at timestamptz,
    finished_at timestamptz,
    -- One object for each attempt that ended.
    answers jsonb NOT NULL DEFAULT '[]',
    warnings jsonb NOT NULL DEFAULT '[]',
    -- By the delivery first, as what is lent and completed is named by arrays of IDs: of an array behind the tenant the
    -- planner makes a filter where it believes that the tenant has little, which it does of every day that is new.
    PRIMARY KEY (delivery_id, tenant_id, created_at),
    CONSTRAINT deliveries_token_kind CHECK (token_kind IN ('device', 'start', 'activity', 'channel')),
    CONSTRAINT deliveries_has_receiver CHECK ((token_kind = 'channel') = (instance_id IS NULL)),
    CONSTRAINT deliveries_environment CHECK (environment IN ('production', 'sandbox')),
    CONSTRAINT deliveries_state
        CHECK (state IN ('skipped', 'queued', 'sending', 'delivered', 'refused', 'uncertain', 'expired')),
    CONSTRAINT deliveries_due_until_final CHECK ((state IN ('queued', 'sending')) = (due_at IS NOT NULL)),
    CONSTRAINT deliveries_finished_when_final CHECK ((state IN ('queued', 'sending')) = (finished_at IS NULL)),
    CONSTRAINT deliveries_attempted CHECK (
        (state <> 'skipped' OR attempt = 0) AND (attempt > 0 OR state IN ('skipped', 'queued', 'expired'))),
    CONSTRAINT deliveries_reason_given CHECK (state NOT IN ('skipped', 'refused') OR reason IS NOT NULL),
    CONSTRAINT deliveries_lost_replies_range CHECK (lost_replies BETWEEN 0 AND attempt)
) PARTITION BY RANGE (created_at);

CREATE INDEX deliveries_due ON doorstep.deliveries (tenant_id, due_at) WHERE due_at IS NOT NULL;
-- For who says so.
CREATE INDEX deliveries_tenant ON doorstep.deliveries (tenant_id, instance_id) WHERE token_kind <> '';

-- The answer to a request is given again to who repeats it.
CREATE TABLE doorstep.idempotency_keys (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    key text COLLATE "C" NOT NULL,
    -- SHA-256 of the request.
    request_digest bytea NOT NULL,
    notification_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key),
    CONSTRAINT idempotency_keys_key_length CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_digest_length CHECK (octet_length(request_digest) = 32)
);

CREATE INDEX idempotency_keys_created_at ON doorstep.idempotency_keys (tenant_id, created_at);

-- Webhooks ----------------------------------------------------------------------------------------------------

-- Where a tenant wants to be told of outcomes.
CREATE TABLE doorstep.webhooks (
    tenant_id uuid NOT NULL PRIMARY KEY REFERENCES doorstep.tenants,
    url text COLLATE "C" NOT NULL,
    -- What messages are signed with, sealed like a token.
    sealed_secret bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT webhooks_url_length CHECK (octet_length(url) BETWEEN 8 AND 2048),
    CONSTRAINT webhooks_sealed_secret_length CHECK (octet_length(sealed_secret) BETWEEN 33 AND 512)
);

-- Messages on their way. Lent like deliveries; deleted when they were taken, or after days of trying.
CREATE TABLE doorstep.webhook_messages (
    tenant_id uuid NOT NULL REFERENCES doorstep.webhooks ON DELETE CASCADE,
    message_id uuid NOT NULL,
    body bytea NOT NULL,
    due_at timestamptz NOT NULL,
    attempt smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, message_id)
);

CREATE INDEX webhook_messages_due ON doorstep.webhook_messages (tenant_id, due_at);

-- Tenants -----------------------------------------------------------------------------------------------------

-- As for confirmations: checked once a statement instead of once a row, and held until the end of the transaction.
CREATE FUNCTION doorstep.require_notifying_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM FROM doorstep.tenants WHERE tenant_id = doorstep.current_tenant_id() FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'a notification is of a tenant that there is not';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.notifications
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_notifying_tenant();
CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.deliveries
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_notifying_tenant();

-- What was committed while the tenant was being deleted goes with it.
CREATE FUNCTION doorstep.delete_notifications_of_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    DELETE FROM doorstep.deliveries WHERE tenant_id = OLD.tenant_id AND token_kind <> '';
    DELETE FROM doorstep.notifications WHERE tenant_id = OLD.tenant_id AND push_type <> '';
    RETURN NULL;
END
$$;

CREATE TRIGGER delete_notifications AFTER DELETE ON doorstep.tenants
    FOR EACH ROW EXECUTE FUNCTION doorstep.delete_notifications_of_tenant();

-- Audit log ---------------------------------------------------------------------------------------------------

-- As it was, and a webhook's secret is left out too.
CREATE OR REPLACE FUNCTION doorstep.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY['digest', 'last_used_on', 'sealed_secret'];
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

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.webhooks REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
CREATE TRIGGER record_update AFTER UPDATE ON doorstep.webhooks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id');
CREATE TRIGGER record_delete AFTER DELETE ON doorstep.webhooks REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

-- Isolation ---------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'instances', 'launches', 'push_tokens', 'channels', 'notifications', 'deliveries', 'idempotency_keys',
        'webhooks', 'webhook_messages'
    ] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', name);
    END LOOP;
END
$$;

-- Which tenants have something due is all that is asked across tenants; what it is, each tenant's own transaction sees.
CREATE POLICY router_reads ON doorstep.deliveries FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.webhook_messages FOR SELECT TO doorstep_router USING (true);
-- Whose old rows are to be pruned.
CREATE POLICY router_reads ON doorstep.instances FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.push_tokens FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.idempotency_keys FOR SELECT TO doorstep_router USING (true);

-- Days --------------------------------------------------------------------------------------------------------

-- As for confirmations, but without a default partition: notifications are always of now, and their days are made a
-- week ahead. A server that finds none has them made.

-- Makes the partitions from yesterday, for a clock that is behind, to a week from now.
CREATE FUNCTION doorstep.add_notification_days() RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
    AS $$
DECLARE
    day date;
    parent text;
    partition text;
    made integer := 0;
BEGIN
    LOCK TABLE ONLY doorstep.notifications, ONLY doorstep.deliveries IN SHARE UPDATE EXCLUSIVE MODE;
    FOR day IN SELECT current_date + n FROM generate_series(-1, 7) AS n LOOP
        FOREACH parent IN ARRAY ARRAY['notifications', 'deliveries'] LOOP
            partition := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass('doorstep.' || partition) IS NOT NULL;
            -- A delivery is updated twice: its new versions find room beside the old ones.
            EXECUTE format(
                'CREATE TABLE doorstep.%I (LIKE doorstep.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)%s',
                partition, parent,
                CASE parent WHEN 'deliveries' THEN ' WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05)'
                    ELSE '' END);
            EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', partition);
            EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', partition);
            EXECUTE format(
                'CREATE POLICY tenant_isolation ON doorstep.%I
                 USING (tenant_id = (SELECT doorstep.current_tenant_id()))
                 WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', partition);
            IF parent = 'deliveries' THEN
                -- For the function below.
                EXECUTE format(
                    'CREATE POLICY owner_finds_what_is_due ON doorstep.%I FOR SELECT TO doorstep_owner
                     USING (due_at IS NOT NULL)', partition);
            END IF;
            EXECUTE format(
                'ALTER TABLE doorstep.%I ATTACH PARTITION doorstep.%I FOR VALUES FROM (%L) TO (%L)',
                parent, partition, day::timestamptz, (day + 1)::timestamptz);
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;

SELECT doorstep.add_notification_days();

-- Drops the days that ended longer ago than so many days, but none of which something is still to be sent.
--
-- A day is locked before it is looked at: what is put back into it meanwhile would go with it. In the order in which those
-- who read lock the two; and who maintains gives way before they have to.
CREATE FUNCTION doorstep.drop_notification_days(retention integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '500ms'
    AS $$
DECLARE
    day text;
    is_due boolean;
    dropped integer := 0;
BEGIN
    IF retention IS NULL OR retention NOT BETWEEN 1 AND 365 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'notifications are kept for 1 to 365 days';
    END IF;
    LOCK TABLE ONLY doorstep.notifications, ONLY doorstep.deliveries IN SHARE UPDATE EXCLUSIVE MODE;
    FOR day IN
        SELECT right(relname, 8) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'doorstep.deliveries'::regclass
            -- As names, for the planner may ask this of every other table before it asks whose child it is.
            AND relname < 'deliveries_' || to_char(current_date - retention, 'YYYYMMDD')
        ORDER BY relname
    LOOP
        EXIT WHEN dropped = 8;
        -- Without a lock first: a day that is kept holds up nobody.
        EXECUTE format('SELECT EXISTS (SELECT FROM doorstep.%I WHERE due_at IS NOT NULL)', 'deliveries_' || day)
        INTO is_due;
        CONTINUE WHEN is_due;
        EXECUTE format('LOCK TABLE doorstep.%I, doorstep.%I IN ACCESS EXCLUSIVE MODE',
            'notifications_' || day, 'deliveries_' || day);
        EXECUTE format('SELECT EXISTS (SELECT FROM doorstep.%I WHERE due_at IS NOT NULL)', 'deliveries_' || day)
        INTO is_due;
        CONTINUE WHEN is_due;
        EXECUTE format('DROP TABLE doorstep.%I, doorstep.%I', 'notifications_' || day, 'deliveries_' || day);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END
$$;

-- Privileges --------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION doorstep.require_notifying_tenant(), doorstep.delete_notifications_of_tenant(),
    doorstep.add_notification_days(), doorstep.drop_notification_days(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.add_notification_days(), doorstep.drop_notification_days(integer)
    TO doorstep_router;

GRANT SELECT, INSERT, DELETE ON doorstep.instances, doorstep.launches, doorstep.push_tokens, doorstep.channels,
    doorstep.idempotency_keys, doorstep.webhook_messages TO doorstep_app;
GRANT UPDATE (bundle_id, app, environment, permission, launched_at, updated_at) ON doorstep.instances TO doorstep_app;
GRANT UPDATE (experience_url, location_identifier, launched_at, confirmed_at) ON doorstep.launches TO doorstep_app;
GRANT UPDATE (digest, sealed, registered_at, retired_at) ON doorstep.push_tokens TO doorstep_app;
GRANT UPDATE (due_at, attempt) ON doorstep.webhook_messages TO doorstep_app;
GRANT SELECT, INSERT ON doorstep.notifications, doorstep.deliveries TO doorstep_app;
GRANT UPDATE (state, reason, due_at, attempt, lost_replies, finished_at, answers) ON doorstep.deliveries TO doorstep_app;
GRANT SELECT ON doorstep.webhooks TO doorstep_app;

GRANT SELECT, DELETE ON doorstep.instances, doorstep.launches, doorstep.channels, doorstep.notifications,
    doorstep.deliveries, doorstep.idempotency_keys, doorstep.webhooks, doorstep.webhook_messages TO doorstep_admin;
-- Tokens stay sealed for who administers.
GRANT SELECT (tenant_id, instance_id, kind, name, registered_at, retired_at) ON doorstep.push_tokens TO doorstep_admin;
GRANT DELETE ON doorstep.push_tokens TO doorstep_admin;
GRANT UPDATE (state, due_at, lost_replies, finished_at) ON doorstep.deliveries TO doorstep_admin;
GRANT INSERT, UPDATE (url, sealed_secret) ON doorstep.webhooks TO doorstep_admin;
GRANT UPDATE (collapse_policy) ON doorstep.tenants TO doorstep_admin;

GRANT SELECT (tenant_id, due_at) ON doorstep.deliveries TO doorstep_router;
GRANT SELECT (tenant_id, due_at) ON doorstep.webhook_messages TO doorstep_router;
GRANT SELECT (tenant_id, launched_at) ON doorstep.instances TO doorstep_router;
GRANT SELECT (tenant_id, kind, registered_at) ON doorstep.push_tokens TO doorstep_router;
GRANT SELECT (tenant_id, created_at) ON doorstep.idempotency_keys TO doorstep_router;
