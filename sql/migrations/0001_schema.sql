-- Tenants and all that belongs to them. Every table but the migrations' own carries `tenant_id` in its primary key
-- and in each foreign key, and has row-level security enabled and forced (PostgreSQL, "Row Security Policies").
--
-- The tenant of a transaction is the setting `doorstep.tenant_id`. After a transaction that set it locally the
-- setting reads as '' rather than NULL, hence the nullif. Unset, no policy holds and no row is visible.

CREATE FUNCTION doorstep.current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('doorstep.tenant_id', true), '')::uuid $$;

-- Tenants --------------------------------------------------------------------------------------------------------

CREATE TABLE doorstep.tenants (
    tenant_id uuid NOT NULL PRIMARY KEY,
    slug text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    suspended_at timestamptz,
    -- How often keys may be used, in requests a second in the long run and at once: each key, and each client address that
    -- uses the tenant's publishable keys. NULL leaves a limit to the server's settings.
    key_rate integer,
    key_burst integer,
    client_rate integer,
    client_burst integer,
    -- Notifications that share no collapse ID are shown one by one. A tenant may have them collapse by themselves: all of
    -- one business, or all of one URL.
    collapse_policy text COLLATE "C" NOT NULL DEFAULT 'none',
    -- How many instances the tenant gets: in all, and from each client address that uses its publishable keys.
    new_instance_rate integer,
    new_instance_burst integer,
    client_new_instance_rate integer,
    client_new_instance_burst integer,
    CONSTRAINT tenants_slug_form CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT tenants_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    CONSTRAINT tenants_collapse_policy CHECK (collapse_policy IN ('none', 'business', 'url')),
    CONSTRAINT tenants_key_limit_range CHECK (key_rate BETWEEN 1 AND 1000000 AND key_burst BETWEEN 1 AND 1000000),
    CONSTRAINT tenants_key_limit_is_whole CHECK (num_nonnulls(key_rate, key_burst) <> 1),
    CONSTRAINT tenants_client_limit_range
        CHECK (client_rate BETWEEN 1 AND 1000000 AND client_burst BETWEEN 1 AND 1000000),
    CONSTRAINT tenants_client_limit_is_whole CHECK (num_nonnulls(client_rate, client_burst) <> 1),
    CONSTRAINT tenants_new_instance_limit_range
        CHECK (new_instance_rate BETWEEN 1 AND 1000000 AND new_instance_burst BETWEEN 1 AND 1000000),
    CONSTRAINT tenants_new_instance_limit_is_whole CHECK (num_nonnulls(new_instance_rate, new_instance_burst) <> 1),
    CONSTRAINT tenants_client_new_instance_limit_range
        CHECK (client_new_instance_rate BETWEEN 1 AND 1000000 AND client_new_instance_burst BETWEEN 1 AND 1000000),
    CONSTRAINT tenants_client_new_instance_limit_is_whole
        CHECK (num_nonnulls(client_new_instance_rate, client_new_instance_burst) <> 1)
);

CREATE TABLE doorstep.clips (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    parent_bundle_id text COLLATE "C" NOT NULL,
    team_id text COLLATE "C" NOT NULL,
    multi_business boolean NOT NULL DEFAULT false,
    -- What the App IDs of the clip and of its app begin with; NULL for the team's ID, as of all but old apps.
    app_id_prefix text COLLATE "C",
    PRIMARY KEY (tenant_id, bundle_id),
    CONSTRAINT clips_bundle_id_form
        CHECK (bundle_id ~ '^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$' AND octet_length(bundle_id) <= 155),
    CONSTRAINT clips_parent_is_prefix CHECK (starts_with(bundle_id, parent_bundle_id || '.')),
    CONSTRAINT clips_team_id_form CHECK (team_id ~ '^[A-Z0-9]{10}$'),
    CONSTRAINT clips_app_id_prefix_form CHECK (app_id_prefix ~ '^[A-Z0-9]{10}$')
);

CREATE TABLE doorstep.domains (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    host text COLLATE "C" NOT NULL,
    challenge text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    proved_at timestamptz,
    method text COLLATE "C",
    checked_at timestamptz,
    -- Since when a proof is missing that was there: at a check after the time of grace `proved_at` goes too.
    lapsed_at timestamptz,
    -- What the tenant's other services need in the association file, which it is merged into. The program takes 32 KiB;
    -- jsonb writes a space after each colon and comma, and its own digits of numbers.
    content jsonb,
    PRIMARY KEY (tenant_id, host),
    CONSTRAINT domains_host_form CHECK (host ~ '^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$' AND length(host) <= 253),
    CONSTRAINT domains_method CHECK (method IN ('dns', 'file')),
    CONSTRAINT domains_proof CHECK ((proved_at IS NULL) = (method IS NULL)),
    CONSTRAINT domains_content_is_object CHECK (jsonb_typeof(content) = 'object'),
    CONSTRAINT domains_content_length CHECK (octet_length(content::text) <= 131072)
);

-- A claim is a tenant's own affair; a proof is not: a host answers for one tenant only.
CREATE UNIQUE INDEX domains_proved_host ON doorstep.domains (host) WHERE proved_at IS NOT NULL;

-- Locations and experiences --------------------------------------------------------------------------------------

CREATE TABLE doorstep.locations (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    identifier text COLLATE "C" NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    radius double precision NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, identifier),
    CONSTRAINT locations_identifier_length CHECK (char_length(identifier) BETWEEN 1 AND 128),
    CONSTRAINT locations_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    -- NaN sorts above every number in PostgreSQL, so the ranges refuse it too.
    CONSTRAINT locations_latitude_range CHECK (latitude BETWEEN -90 AND 90),
    CONSTRAINT locations_longitude_range CHECK (longitude BETWEEN -180 AND 180),
    -- Apple, "Confirming a person's physical location": at most 500 m.
    CONSTRAINT locations_radius_range CHECK (radius > 0 AND radius <= 500),
    CONSTRAINT locations_metadata_is_object CHECK (jsonb_typeof(metadata) = 'object')
);

CREATE TABLE doorstep.experiences (
    tenant_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    location_identifier text COLLATE "C",
    identifier_rule text COLLATE "C",
    title text,
    subtitle text,
    PRIMARY KEY (tenant_id, kind, url),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips,
    FOREIGN KEY (tenant_id, location_identifier) REFERENCES doorstep.locations,
    CONSTRAINT experiences_kind CHECK (kind IN ('advanced', 'default', 'demo')),
    CONSTRAINT experiences_url_form CHECK (starts_with(url, 'https://') AND octet_length(url) <= 2048),
    CONSTRAINT experiences_one_binding CHECK (num_nonnulls(location_identifier, identifier_rule) <= 1),
    CONSTRAINT experiences_identifier_rule_form
        CHECK (identifier_rule ~ '^(path:[1-9][0-9]*|query:.+|hash:.+|coordinates:[^,]+,[^,]+(,[^,]+)?)$'),
    -- Apple, App Store Connect Help, "App Clip experiences": the card's title and subtitle.
    CONSTRAINT experiences_title_length CHECK (char_length(title) BETWEEN 1 AND 30),
    CONSTRAINT experiences_subtitle_length CHECK (char_length(subtitle) BETWEEN 1 AND 56)
);

CREATE INDEX experiences_location ON doorstep.experiences (tenant_id, location_identifier);
CREATE UNIQUE INDEX experiences_one_default_per_clip ON doorstep.experiences (tenant_id, bundle_id)
    WHERE kind = 'default';

-- Codes that stand for URLs too long to print. Apple: "hash long URLs".
CREATE TABLE doorstep.short_codes (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    code text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, code),
    CONSTRAINT short_codes_code_length CHECK (char_length(code) BETWEEN 1 AND 128),
    CONSTRAINT short_codes_url_form CHECK (starts_with(url, 'https://') AND octet_length(url) <= 2048)
);

-- Keys -----------------------------------------------------------------------------------------------------------

CREATE TABLE doorstep.api_keys (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    key_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    -- SHA-256 of the key: a random 256-bit secret needs no slow hash.
    digest bytea NOT NULL,
    -- The key's first characters, to tell it from others in a list.
    hint text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_on date,
    -- What of its kind's rights the key has; NULL for all that the kind had when there was no choice.
    scopes text[] COLLATE "C",
    -- By what a rotation replaced it: a key is replaced once.
    successor_id uuid,
    PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT api_keys_kind CHECK (kind IN ('publishable', 'secret')),
    CONSTRAINT api_keys_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_hint_length CHECK (char_length(hint) <= 12),
    CONSTRAINT api_keys_scopes CHECK (
        cardinality(scopes) > 0
        AND scopes <@ CASE kind
            WHEN 'publishable' THEN ARRAY['look_up', 'confirm', 'register']
            ELSE ARRAY['look_up', 'confirm', 'compose', 'register', 'notify'] END)
);

CREATE INDEX api_keys_digest ON doorstep.api_keys (digest);

-- Confirmations --------------------------------------------------------------------------------------------------

-- That somebody was, or was not, at a place: never where they were. The location is text without a foreign key, since
-- a record must neither keep a location from being deleted nor disappear with it.
--
-- They come by the thousand a second: what writing one costs decides how many there can be. Measured for 50,000 rows in
-- one statement, a foreign key to the tenant and an index by location, which is written at a random place each time, took
-- two thirds of the time: the tenant is checked once a statement instead, and a day gets its index when it is over.
--
-- They are kept for so long and no longer: they are partitioned by the day (UTC) of their minute, so that a day's are
-- dropped at once, which costs nothing however many they are, and leaves no dead rows. What is recorded for a day that has
-- no partition goes to the default one, and moves when the day gets its own: whatever happens to the program that makes
-- partitions, no confirmation is refused.
CREATE TABLE doorstep.confirmations (
    tenant_id uuid NOT NULL,
    -- Made by the server in the order of time (RFC 9562, version 7).
    confirmation_id uuid NOT NULL,
    location_identifier text COLLATE "C",
    outcome text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    minute timestamptz NOT NULL,
    -- In this order it also lists a tenant's confirmations by time, and grows at one end for each tenant.
    PRIMARY KEY (tenant_id, minute, confirmation_id),
    CONSTRAINT confirmations_location_length CHECK (char_length(location_identifier) BETWEEN 1 AND 128),
    CONSTRAINT confirmations_outcome
        CHECK (outcome IN ('inRegion', 'notInRegion', 'doesNotMatch', 'disallowed', 'undetermined')),
    CONSTRAINT confirmations_source CHECK (source IN (
        'nfc', 'app_clip_code', 'qr_code', 'maps', 'messages', 'mail', 'safari', 'spotlight', 'siri', 'app', 'app_library',
        'notification', 'unknown')),
    CONSTRAINT confirmations_minute_is_whole CHECK (isfinite(minute) AND date_trunc('minute', minute, 'UTC') = minute)
) PARTITION BY RANGE (minute);

CREATE TABLE doorstep.confirmations_default PARTITION OF doorstep.confirmations DEFAULT;

-- Row-level security lets a statement write one tenant's rows alone.
CREATE FUNCTION doorstep.require_confirmed_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    -- Held until the end of the transaction, as a foreign key would.
    PERFORM FROM doorstep.tenants WHERE tenant_id = doorstep.current_tenant_id() FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'a confirmation is of a tenant that there is not';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.confirmations
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_confirmed_tenant();

-- What was committed while the tenant was being deleted goes with it.
CREATE FUNCTION doorstep.delete_confirmations_of_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    DELETE FROM doorstep.confirmations WHERE tenant_id = OLD.tenant_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER delete_confirmations AFTER DELETE ON doorstep.tenants
    FOR EACH ROW EXECUTE FUNCTION doorstep.delete_confirmations_of_tenant();

-- Instances ------------------------------------------------------------------------------------------------------

-- The rows of these and of notifications are written by the server (doorstep_app), thousands a second, and pruned by age;
-- so none of these tables is audited.

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
    -- `UNAuthorizationStatus` in full.
    CONSTRAINT instances_permission
        CHECK (permission IN ('notDetermined', 'denied', 'authorized', 'provisional', 'ephemeral'))
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
    -- Who was there when a notification was asked for is still to be told when its audience is looked at later, and after
    -- more launches: so of each launch it is kept when it was reported, and of those that follow within 8 hours, the first.
    present_since timestamptz NOT NULL DEFAULT now(),
    -- When the first launch by the URL was reported.
    known_since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, instance_id, url),
    FOREIGN KEY (tenant_id, instance_id) REFERENCES doorstep.instances ON DELETE CASCADE,
    CONSTRAINT launches_url_form CHECK (starts_with(url, 'https://') AND octet_length(url) <= 2048),
    CONSTRAINT launches_experience_url_length CHECK (octet_length(experience_url) <= 2048),
    CONSTRAINT launches_location_length CHECK (char_length(location_identifier) BETWEEN 1 AND 128),
    CONSTRAINT launches_confirmed_at_is_of_location CHECK (confirmed_at IS NULL OR location_identifier IS NOT NULL)
);

-- The audiences: who was launched at a business, and who by a URL that begins with another. They are gone through in the
-- order of these, from where the part before ended.
CREATE INDEX launches_location ON doorstep.launches (tenant_id, location_identifier, launched_at, instance_id)
    WHERE location_identifier IS NOT NULL;
CREATE INDEX launches_experience ON doorstep.launches (tenant_id, experience_url, launched_at, instance_id)
    WHERE experience_url IS NOT NULL;
CREATE INDEX launches_url ON doorstep.launches (tenant_id, url, instance_id) WHERE url IS NOT NULL;

CREATE FUNCTION doorstep.renew_presence() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    NEW.present_since := now();
    RETURN NEW;
END
$$;

CREATE TRIGGER renew_presence BEFORE UPDATE ON doorstep.launches
    FOR EACH ROW WHEN (
        NEW.launched_at >= OLD.launched_at + interval '8 hours'
        OR NEW.experience_url <> OLD.experience_url
        OR NEW.location_identifier IS DISTINCT FROM OLD.location_identifier)
    EXECUTE FUNCTION doorstep.renew_presence();

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

-- Notifications --------------------------------------------------------------------------------------------------

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
    experience_kind text COLLATE "C" NOT NULL DEFAULT 'advanced',
    -- How many of those who were skipped have no delivery of their own, by the reason.
    skipped jsonb NOT NULL DEFAULT '{}',
    -- As for deliveries.
    PRIMARY KEY (notification_id, tenant_id, created_at),
    CONSTRAINT notifications_url_length CHECK (octet_length(url) <= 2048),
    CONSTRAINT notifications_push_type CHECK (push_type IN ('alert', 'liveactivity')),
    CONSTRAINT notifications_priority CHECK (priority IN (1, 5, 10)),
    CONSTRAINT notifications_collapse_id_length CHECK (octet_length(collapse_id) BETWEEN 1 AND 64),
    CONSTRAINT notifications_expiration_range CHECK (expiration >= 0),
    CONSTRAINT notifications_payload_length CHECK (octet_length(payload) BETWEEN 1 AND 5120),
    CONSTRAINT notifications_experience_kind CHECK (experience_kind IN ('default', 'advanced', 'demo'))
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
    -- The URL by which the instance was launched, where that is of another experience than the notification's own target;
    -- NULL for that one.
    target text COLLATE "C",
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
    CONSTRAINT deliveries_lost_replies_range CHECK (lost_replies BETWEEN 0 AND attempt),
    CONSTRAINT deliveries_target_length CHECK (octet_length(target) BETWEEN 1 AND 2048)
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

-- How far the audience of a notification is taken in that is more than one request takes; gone when it is taken in whole.
CREATE TABLE doorstep.audience_cursors (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    notification_id uuid NOT NULL,
    -- The notification's.
    created_at timestamptz NOT NULL,
    -- By the clock that the launches' `present_since` is of.
    asked_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL DEFAULT now(),
    -- The last launch that was looked at.
    launched_at timestamptz NOT NULL,
    url text COLLATE "C" NOT NULL,
    instance_id uuid NOT NULL,
    -- How many deliveries there are so far.
    delivery_count integer NOT NULL,
    PRIMARY KEY (tenant_id, notification_id),
    CONSTRAINT audience_cursors_delivery_count_range CHECK (delivery_count >= 0)
);

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

-- Webhooks -------------------------------------------------------------------------------------------------------

-- Where a tenant wants to be told of outcomes.
CREATE TABLE doorstep.webhooks (
    tenant_id uuid NOT NULL PRIMARY KEY REFERENCES doorstep.tenants,
    url text COLLATE "C" NOT NULL,
    -- What messages are signed with, sealed like a token.
    sealed_secret bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The audit log leaves the secret out, and would see no change where it alone was replaced. Sealing it anew is none.
    secret_changed_at timestamptz NOT NULL DEFAULT now(),
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

-- Audit log ------------------------------------------------------------------------------------------------------

-- Who changed what, with the row before and after. No role that serves or administers may write, change or delete an
-- entry: only the function below writes them. There is no foreign key: that a tenant was deleted is an entry too.
CREATE TABLE doorstep.audit_log (
    tenant_id uuid NOT NULL,
    entry_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    -- Who the program says made the change; `login` is who the server knows it to be.
    actor text NOT NULL,
    login text NOT NULL DEFAULT session_user,
    action text COLLATE "C" NOT NULL,
    relation text COLLATE "C" NOT NULL,
    before jsonb,
    after jsonb,
    PRIMARY KEY (tenant_id, entry_id),
    CONSTRAINT audit_log_action CHECK (action IN ('insert', 'update', 'delete')),
    CONSTRAINT audit_log_states CHECK ((action <> 'insert') = (before IS NOT NULL)
        AND (action <> 'delete') = (after IS NOT NULL))
);

-- One statement of SQL is one insert into the log, however many rows it changed: an import of a million locations must
-- not call a function a million times. The trigger's argument names the key columns. Digests of keys and
-- secrets are left out, and that a key was used is no change.
--
-- It runs as its owner, so that who makes a change need not be able to write an entry; the tenant is the transaction's
-- all the same, and row-level security holds. Nobody else may EXECUTE it, which a trigger that is there does not ask
-- for: with that right, a trigger on a temporary table would write whatever entries its maker likes.
CREATE FUNCTION doorstep.record_change() RETURNS trigger
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

DO $$
DECLARE
    audited record;
BEGIN
    FOR audited IN
        SELECT * FROM (VALUES
            ('tenants', 'tenant_id'),
            ('clips', 'tenant_id, bundle_id'),
            ('domains', 'tenant_id, host'),
            ('locations', 'tenant_id, identifier'),
            ('experiences', 'tenant_id, kind, url'),
            ('short_codes', 'tenant_id, code'),
            ('api_keys', 'tenant_id, key_id'),
            ('webhooks', 'tenant_id')
        ) AS v (name, key_columns)
    LOOP
        EXECUTE format(
            'CREATE TRIGGER record_insert AFTER INSERT ON doorstep.%I REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change()', audited.name);
        EXECUTE format(
            'CREATE TRIGGER record_update AFTER UPDATE ON doorstep.%I
             REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change(%L)', audited.name, audited.key_columns);
        EXECUTE format(
            'CREATE TRIGGER record_delete AFTER DELETE ON doorstep.%I REFERENCING OLD TABLE AS old_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change()', audited.name);
    END LOOP;
END
$$;

-- Change feed ----------------------------------------------------------------------------------------------------

-- What a server keeps in memory follows the database by a log of what changed: which row of which tenant, not what it
-- says now, which is read then. The log is short-lived, unlike the audit log, and says nothing of who and why.

CREATE TABLE doorstep.changes (
    tenant_id uuid NOT NULL,
    change_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- A reader takes the changes that its last snapshot did not see, by the transaction that made them. A sequence
    -- would not do: what is committed late has numbers that a reader has passed.
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- When the row was written, which is before its transaction was committed: what is old enough is pruned.
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    relation text COLLATE "C" NOT NULL,
    -- The row's primary key as text, without the tenant; NULL for any number of rows of the tenant.
    key text[] COLLATE "C",
    PRIMARY KEY (tenant_id, change_id)
);

CREATE INDEX changes_xid ON doorstep.changes (xid);

-- The newest transaction of which changes were pruned: a reader whose last snapshot is older may have missed some. One
-- row, which is no tenant's.
CREATE TABLE doorstep.change_horizon (
    is_only boolean NOT NULL PRIMARY KEY DEFAULT true,
    pruned_xid xid8 NOT NULL,
    CONSTRAINT change_horizon_is_only CHECK (is_only)
);

INSERT INTO doorstep.change_horizon (pruned_xid) VALUES ('0');

-- One statement of SQL that changes many rows of a tenant is one change: to read them all again costs less than a
-- million entries. All of one transaction's notifications are one. The trigger's arguments name the columns of the key
-- beside the tenant, and the others that routing reads: no other makes an update a change.
--
-- It runs as its owner, so that who changes a row need not be able to write a change; the tenant is the transaction's
-- all the same, and row-level security holds.
CREATE FUNCTION doorstep.record_routing_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    key_columns text := concat_ws(', ', 'tenant_id', nullif(TG_ARGV[0], ''));
    all_columns text := concat_ws(', ', key_columns, TG_ARGV[1]);
    changed text := CASE TG_OP
        WHEN 'INSERT' THEN format('SELECT %s FROM new_rows', key_columns)
        WHEN 'DELETE' THEN format('SELECT %s FROM old_rows', key_columns)
        -- A row whose key was changed is two: the one that is gone, and the one that came.
        ELSE format(
            'SELECT DISTINCT %1$s FROM (
                (SELECT %2$s FROM old_rows EXCEPT SELECT %2$s FROM new_rows)
                UNION ALL
                (SELECT %2$s FROM new_rows EXCEPT SELECT %2$s FROM old_rows)) AS d', key_columns, all_columns)
    END;
    is_changed boolean;
BEGIN
    EXECUTE format(
        'WITH r AS (%1$s),
              n AS (SELECT tenant_id, count(*) > 1000 AS are_many FROM r GROUP BY tenant_id),
              i AS (INSERT INTO doorstep.changes (tenant_id, relation, key)
                    SELECT tenant_id, $1, ARRAY[%2$s]::text[] FROM n JOIN r USING (tenant_id) WHERE NOT are_many
                    UNION ALL
                    SELECT tenant_id, $1, NULL FROM n WHERE are_many
                    RETURNING 1)
         SELECT EXISTS (SELECT FROM i)', changed, TG_ARGV[0])
    INTO is_changed USING TG_TABLE_NAME;
    IF is_changed THEN
        NOTIFY doorstep_changes;
    END IF;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    fed record;
BEGIN
    FOR fed IN
        SELECT * FROM (VALUES
            ('tenants', '',
                'suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate, new_instance_burst, '
                'client_new_instance_rate, client_new_instance_burst'),
            ('clips', 'bundle_id', 'parent_bundle_id, team_id, app_id_prefix, multi_business'),
            ('api_keys', 'key_id', 'digest, expires_at, revoked_at'),
            ('domains', 'host', 'proved_at, content'),
            ('locations', 'identifier', 'name, latitude, longitude, radius'),
            ('experiences', 'kind, url', 'bundle_id, location_identifier, identifier_rule'),
            ('short_codes', 'code', 'url')
        ) AS v (name, key_columns, other_columns)
    LOOP
        EXECUTE format(
            'CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.%I REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(%L)', fed.name, fed.key_columns);
        EXECUTE format(
            'CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.%I
             REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(%L, %L)',
            fed.name, fed.key_columns, fed.other_columns);
        EXECUTE format(
            'CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.%I REFERENCING OLD TABLE AS old_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(%L)', fed.name, fed.key_columns);
        -- None of these is fired by TRUNCATE. An owner could give itself the right again: this is against mistakes.
        EXECUTE format('REVOKE TRUNCATE ON doorstep.%I FROM doorstep_owner', fed.name);
    END LOOP;
END
$$;

-- Removes changes that are older than an hour. Only those of transactions that every snapshot from now on sees as
-- ended: a reader whose last snapshot is younger than the pruning then knows that it missed nothing.
--
-- A database that was restored from a dump may hold numbers of transactions which its own server has not come to yet.
-- They say nothing: such changes go too, and such a horizon is not kept.
CREATE FUNCTION doorstep.prune_changes() RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        WITH own AS (
            SELECT pg_snapshot_xmin(s) AS ended, pg_snapshot_xmax(s) AS next FROM pg_current_snapshot() AS s
        ), pruned AS (
            DELETE FROM doorstep.changes USING own
            WHERE at < now() - interval '1 hour' AND (xid < ended OR xid >= next)
            RETURNING xid
        ), newest AS (
            SELECT xid FROM pruned, own WHERE xid < ended ORDER BY xid DESC LIMIT 1
        ), marked AS (
            UPDATE doorstep.change_horizon
            SET pruned_xid = CASE WHEN pruned_xid < next THEN greatest(pruned_xid, xid) ELSE xid END
            FROM newest, own
        )
        SELECT count(*) FROM pruned
    $$;

-- Days of confirmations ------------------------------------------------------------------------------------------

-- These are called by every server again and again, and two at once take turns. None waits for a lock longer than two
-- seconds, since whoever writes would wait behind it: the next call comes soon. Each does a few days at most, so that a
-- transaction stays short, and returns how many: none are left when it says 0.

-- Makes the partitions of the next days, and of the days of what is in the default partition.
CREATE FUNCTION doorstep.add_confirmation_days() RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
    AS $$
DECLARE
    days date[];
    day date;
    partition text;
BEGIN
    LOCK TABLE ONLY doorstep.confirmations IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT coalesce(array_agg(d), '{}') INTO days FROM (
        SELECT d FROM (
            SELECT current_date + n AS d FROM generate_series(0, 7) AS n
            UNION
            SELECT minute::date FROM doorstep.confirmations_default
            WHERE minute >= current_date - 730 AND minute < current_date + 8
        ) AS wanted
        WHERE to_regclass('doorstep.confirmations_' || to_char(d, 'YYYYMMDD')) IS NULL
        ORDER BY d DESC LIMIT 8
    ) AS missing;
    IF days = '{}' THEN
        RETURN 0;
    END IF;
    -- Who writes to the default partition waits until its rows have moved.
    LOCK TABLE doorstep.confirmations_default IN ACCESS EXCLUSIVE MODE;
    FOREACH day IN ARRAY days LOOP
        partition := 'confirmations_' || to_char(day, 'YYYYMMDD');
        EXECUTE format('CREATE TABLE doorstep.%I (LIKE doorstep.confirmations INCLUDING CONSTRAINTS)', partition);
        -- Before row-level security holds, since they are of many tenants; nobody else sees the partition yet.
        EXECUTE format(
            'WITH moved AS (DELETE FROM doorstep.confirmations_default WHERE minute >= $1 AND minute < $2 RETURNING *)
             INSERT INTO doorstep.%I SELECT * FROM moved', partition)
        USING day::timestamptz, (day + 1)::timestamptz;
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', partition);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', partition);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', partition);
        EXECUTE format(
            'ALTER TABLE doorstep.confirmations ATTACH PARTITION doorstep.%I FOR VALUES FROM (%L) TO (%L)',
            partition, day::timestamptz, (day + 1)::timestamptz);
    END LOOP;
    RETURN cardinality(days);
END
$$;

-- The partitions of days, without the default one.
CREATE FUNCTION doorstep.confirmation_days() RETURNS TABLE (day date, partition text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT to_date(right(relname, 8), 'YYYYMMDD'), relname::text
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'doorstep.confirmations'::regclass AND relname ~ '^confirmations_[0-9]{8}$'
    $$;

-- Drops the days that ended longer ago than so many days.
CREATE FUNCTION doorstep.drop_confirmation_days(retention integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
    AS $$
DECLARE
    partitions text[];
    partition text;
BEGIN
    IF retention IS NULL OR retention NOT BETWEEN 1 AND 730 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'confirmations are kept for 1 to 730 days';
    END IF;
    LOCK TABLE ONLY doorstep.confirmations IN SHARE UPDATE EXCLUSIVE MODE;
    -- What came so late that its day was gone.
    DELETE FROM doorstep.confirmations_default WHERE minute < (current_date - retention)::timestamptz;
    SELECT coalesce(array_agg(d.partition), '{}') INTO partitions FROM (
        SELECT c.partition FROM doorstep.confirmation_days() AS c
        WHERE c.day < current_date - retention
        ORDER BY c.day LIMIT 8
    ) AS d;
    FOREACH partition IN ARRAY partitions LOOP
        EXECUTE format('DROP TABLE doorstep.%I', partition);
    END LOOP;
    RETURN cardinality(partitions);
END
$$;

-- Gives a day that is over its index by location.
--
-- Measured for two million rows of a day: an index that is there while they come takes more than half of the time that
-- it takes to write them; made afterwards, it takes a fifth. Without it one location's are found in 0.1 s, with it in
-- 4 ms; the day that is under way is searched by the primary key.
CREATE FUNCTION doorstep.index_confirmation_days() RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s'
    AS $$
DECLARE
    partition text;
BEGIN
    LOCK TABLE ONLY doorstep.confirmations IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT c.partition INTO partition FROM doorstep.confirmation_days() AS c
    -- Who writes to the partition meanwhile waits: that should be nobody any more.
    WHERE (c.day + 1)::timestamptz < now() - interval '1 hour'
        AND to_regclass(format('doorstep.%I', c.partition || '_location')) IS NULL
    ORDER BY c.day LIMIT 1;
    IF partition IS NULL THEN
        RETURN 0;
    END IF;
    EXECUTE format(
        'CREATE INDEX %I ON doorstep.%I (tenant_id, location_identifier, minute)', partition || '_location', partition);
    RETURN 1;
END
$$;

-- Days of notifications ------------------------------------------------------------------------------------------

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

-- Isolation ------------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenants', 'clips', 'domains', 'locations', 'experiences', 'short_codes', 'api_keys', 'confirmations',
        -- Nobody but the owner has a right to a partition itself, and there the same policy holds as on the whole.
        'confirmations_default', 'instances', 'launches', 'push_tokens', 'channels', 'notifications', 'deliveries',
        'idempotency_keys', 'audience_cursors', 'webhooks', 'webhook_messages', 'audit_log', 'changes'
    ] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', name);
        -- The sub-select is evaluated once a statement instead of once a row.
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', name);
    END LOOP;

    -- The routing table of a server holds every tenant's, and it follows every tenant's changes; of the others it is asked
    -- which tenants have something due, or old rows to be pruned. The grants below say which columns.
    FOREACH name IN ARRAY ARRAY[
        'tenants', 'clips', 'domains', 'locations', 'experiences', 'short_codes', 'api_keys', 'changes',
        'deliveries', 'audience_cursors', 'webhook_messages', 'instances', 'push_tokens', 'idempotency_keys'
    ] LOOP
        EXECUTE format('CREATE POLICY router_reads ON doorstep.%I FOR SELECT TO doorstep_router USING (true)', name);
    END LOOP;
END
$$;

-- An operator lists tenants and finds one by its slug.
CREATE POLICY admin_lists_tenants ON doorstep.tenants FOR SELECT TO doorstep_admin USING (true);

-- For `prune_changes`.
CREATE POLICY owner_prunes ON doorstep.changes FOR DELETE TO doorstep_owner USING (at < now() - interval '1 hour');
CREATE POLICY owner_finds_what_to_prune ON doorstep.changes FOR SELECT TO doorstep_owner
    USING (at < now() - interval '1 hour');

-- For `add_confirmation_days`, which moves every tenant's rows out of the default partition.
CREATE POLICY owner_finds_what_to_move ON doorstep.confirmations_default FOR SELECT TO doorstep_owner USING (true);
CREATE POLICY owner_moves ON doorstep.confirmations_default FOR DELETE TO doorstep_owner USING (true);

-- Privileges -----------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA doorstep TO doorstep_app, doorstep_admin, doorstep_router;
GRANT SELECT ON doorstep.schema_migrations TO doorstep_app, doorstep_admin;

REVOKE ALL ON FUNCTION doorstep.record_change(), doorstep.record_routing_change(), doorstep.prune_changes(),
    doorstep.require_confirmed_tenant(), doorstep.delete_confirmations_of_tenant(),
    doorstep.require_notifying_tenant(), doorstep.delete_notifications_of_tenant(), doorstep.renew_presence(),
    doorstep.confirmation_days(), doorstep.add_confirmation_days(), doorstep.drop_confirmation_days(integer),
    doorstep.index_confirmation_days(), doorstep.add_notification_days(), doorstep.drop_notification_days(integer)
    FROM PUBLIC;

-- The server.
GRANT SELECT ON doorstep.tenants, doorstep.clips, doorstep.domains, doorstep.locations, doorstep.experiences,
    doorstep.short_codes, doorstep.webhooks TO doorstep_app;
GRANT INSERT ON doorstep.confirmations TO doorstep_app;
-- It notes on which day a key was used last; of a key it sees no more than that.
GRANT SELECT (tenant_id, key_id, last_used_on), UPDATE (last_used_on) ON doorstep.api_keys TO doorstep_app;
GRANT SELECT, INSERT, DELETE ON doorstep.instances, doorstep.launches, doorstep.push_tokens, doorstep.channels,
    doorstep.idempotency_keys, doorstep.audience_cursors, doorstep.webhook_messages TO doorstep_app;
GRANT UPDATE (bundle_id, app, environment, permission, launched_at, updated_at) ON doorstep.instances TO doorstep_app;
GRANT UPDATE (experience_url, location_identifier, launched_at, confirmed_at) ON doorstep.launches TO doorstep_app;
GRANT UPDATE (digest, sealed, registered_at, retired_at) ON doorstep.push_tokens TO doorstep_app;
GRANT UPDATE (due_at, launched_at, url, instance_id, delivery_count) ON doorstep.audience_cursors TO doorstep_app;
GRANT UPDATE (due_at, attempt) ON doorstep.webhook_messages TO doorstep_app;
GRANT SELECT, INSERT ON doorstep.notifications, doorstep.deliveries TO doorstep_app;
GRANT UPDATE (skipped) ON doorstep.notifications TO doorstep_app;
GRANT UPDATE (state, reason, due_at, attempt, lost_replies, finished_at, answers) ON doorstep.deliveries TO doorstep_app;

-- Who administers.
GRANT SELECT, INSERT, DELETE ON doorstep.tenants, doorstep.clips, doorstep.domains, doorstep.locations,
    doorstep.experiences, doorstep.short_codes, doorstep.api_keys, doorstep.webhooks TO doorstep_admin;
-- What the audit log joins a row's two states by cannot change.
GRANT UPDATE (name, suspended_at, key_rate, key_burst, client_rate, client_burst, collapse_policy, new_instance_rate,
    new_instance_burst, client_new_instance_rate, client_new_instance_burst) ON doorstep.tenants TO doorstep_admin;
GRANT UPDATE (parent_bundle_id, team_id, app_id_prefix, multi_business) ON doorstep.clips TO doorstep_admin;
GRANT UPDATE (challenge, claimed_at, proved_at, method, checked_at, lapsed_at, content) ON doorstep.domains
    TO doorstep_admin;
GRANT UPDATE (name, latitude, longitude, radius, metadata) ON doorstep.locations TO doorstep_admin;
GRANT UPDATE (bundle_id, location_identifier, identifier_rule, title, subtitle) ON doorstep.experiences
    TO doorstep_admin;
GRANT UPDATE (url) ON doorstep.short_codes TO doorstep_admin;
GRANT UPDATE (expires_at, revoked_at, successor_id) ON doorstep.api_keys TO doorstep_admin;
GRANT UPDATE (url, sealed_secret, secret_changed_at) ON doorstep.webhooks TO doorstep_admin;
GRANT SELECT, DELETE ON doorstep.confirmations, doorstep.instances, doorstep.launches, doorstep.channels,
    doorstep.notifications, doorstep.deliveries, doorstep.idempotency_keys, doorstep.audience_cursors,
    doorstep.webhook_messages TO doorstep_admin;
-- Tokens stay sealed for who administers.
GRANT SELECT (tenant_id, instance_id, kind, name, registered_at, retired_at), DELETE ON doorstep.push_tokens
    TO doorstep_admin;
GRANT UPDATE (state, due_at, lost_replies, finished_at) ON doorstep.deliveries TO doorstep_admin;
GRANT SELECT ON doorstep.audit_log TO doorstep_admin;

-- What a server keeps in memory of every tenant, and how it follows that.
GRANT SELECT (tenant_id, slug, suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate,
    new_instance_burst, client_new_instance_rate, client_new_instance_burst) ON doorstep.tenants TO doorstep_router;
GRANT SELECT (tenant_id, bundle_id, multi_business, team_id, parent_bundle_id, app_id_prefix) ON doorstep.clips
    TO doorstep_router;
GRANT SELECT (tenant_id, key_id, kind, digest, expires_at, scopes, revoked_at) ON doorstep.api_keys TO doorstep_router;
GRANT SELECT (tenant_id, host, content, proved_at) ON doorstep.domains TO doorstep_router;
GRANT SELECT (tenant_id, identifier, name, latitude, longitude, radius) ON doorstep.locations TO doorstep_router;
GRANT SELECT (tenant_id, kind, url, bundle_id, location_identifier, identifier_rule) ON doorstep.experiences
    TO doorstep_router;
GRANT SELECT (tenant_id, code, url) ON doorstep.short_codes TO doorstep_router;
GRANT SELECT ON doorstep.changes, doorstep.change_horizon TO doorstep_router;
-- Whose is due, and whose is old.
GRANT SELECT (tenant_id, due_at) ON doorstep.deliveries, doorstep.audience_cursors, doorstep.webhook_messages
    TO doorstep_router;
GRANT SELECT (tenant_id, launched_at) ON doorstep.instances TO doorstep_router;
GRANT SELECT (tenant_id, kind, registered_at) ON doorstep.push_tokens TO doorstep_router;
GRANT SELECT (tenant_id, created_at) ON doorstep.idempotency_keys TO doorstep_router;
-- The role that sees no confirmation looks after their days.
GRANT EXECUTE ON FUNCTION doorstep.prune_changes(), doorstep.add_confirmation_days(),
    doorstep.drop_confirmation_days(integer), doorstep.index_confirmation_days(), doorstep.add_notification_days(),
    doorstep.drop_notification_days(integer) TO doorstep_router;

-- An owner may do anything with a table, unless told not to. It could give itself the right again: this is against
-- mistakes.
REVOKE UPDATE, DELETE, TRUNCATE ON doorstep.audit_log FROM doorstep_owner;

SELECT doorstep.add_notification_days();
