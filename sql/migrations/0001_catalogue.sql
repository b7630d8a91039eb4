-- Tenants and all that belongs to them. Every table but the migrations' own carries `tenant_id` in its primary key
-- and in each foreign key, and has row-level security enabled and forced (PostgreSQL, "Row Security Policies").
--
-- The tenant of a transaction is the setting `doorstep.tenant_id`. After a transaction that set it locally the
-- setting reads as '' rather than NULL, hence the nullif. Unset, no policy holds and no row is visible.

CREATE FUNCTION doorstep.current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('doorstep.tenant_id', true), '')::uuid $$;

-- Tenants -----------------------------------------------------------------------------------------------------

CREATE TABLE doorstep.tenants (
    tenant_id uuid NOT NULL PRIMARY KEY,
    slug text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    suspended_at timestamptz,
    CONSTRAINT tenants_slug_form CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT tenants_name_length CHECK (char_length(name) BETWEEN 1 AND 128)
);

CREATE TABLE doorstep.clips (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    parent_bundle_id text COLLATE "C" NOT NULL,
    team_id text COLLATE "C" NOT NULL,
    multi_business boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, bundle_id),
    CONSTRAINT clips_bundle_id_form
        CHECK (bundle_id ~ '^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$' AND octet_length(bundle_id) <= 155),
    CONSTRAINT clips_parent_is_prefix CHECK (starts_with(bundle_id, parent_bundle_id || '.')),
    CONSTRAINT clips_team_id_form CHECK (team_id ~ '^[A-Z0-9]{10}$')
);

CREATE TABLE doorstep.domains (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    host text COLLATE "C" NOT NULL,
    challenge text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    proved_at timestamptz,
    PRIMARY KEY (tenant_id, host),
    CONSTRAINT domains_host_form CHECK (host ~ '^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$' AND length(host) <= 253)
);

-- A claim is a tenant's own affair; a proof is not: a host answers for one tenant only.
CREATE UNIQUE INDEX domains_proved_host ON doorstep.domains (host) WHERE proved_at IS NOT NULL;

-- Locations and experiences -----------------------------------------------------------------------------------

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
    -- Host and path, and the distinct query items, of the URL: what a search can use an index for.
    match_key text COLLATE "C" NOT NULL,
    query_items text[] COLLATE "C" NOT NULL,
    -- Keeps apart what shares a path: a hundred thousand URLs may differ by the value of one item. A column, since
    -- under row-level security an index on the expression would not be used: COALESCE is not known to be leakproof.
    first_query_item text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(query_items[1], '')) STORED,
    location_identifier text COLLATE "C",
    identifier_rule text COLLATE "C",
    title text,
    subtitle text,
    PRIMARY KEY (tenant_id, kind, url),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips,
    FOREIGN KEY (tenant_id, location_identifier) REFERENCES doorstep.locations,
    CONSTRAINT experiences_kind CHECK (kind IN ('advanced', 'default', 'demo')),
    CONSTRAINT experiences_url_length CHECK (octet_length(url) <= 2048),
    CONSTRAINT experiences_match_key_of_url CHECK (split_part(url, '?', 1) = 'https://' || match_key),
    CONSTRAINT experiences_query_items_count CHECK (cardinality(query_items) <= 16),
    CONSTRAINT experiences_one_binding CHECK (num_nonnulls(location_identifier, identifier_rule) <= 1),
    CONSTRAINT experiences_identifier_rule_form
        CHECK (identifier_rule ~ '^(path:[1-9][0-9]*|query:.+|hash:.+|coordinates:[^,]+,[^,]+(,[^,]+)?)$'),
    -- Apple, App Store Connect Help, "App Clip experiences": the card's title and subtitle.
    CONSTRAINT experiences_title_length CHECK (char_length(title) BETWEEN 1 AND 30),
    CONSTRAINT experiences_subtitle_length CHECK (char_length(subtitle) BETWEEN 1 AND 56)
);

CREATE INDEX experiences_match_key ON doorstep.experiences (tenant_id, match_key, first_query_item);
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

-- Keys --------------------------------------------------------------------------------------------------------

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
    PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT api_keys_kind CHECK (kind IN ('publishable', 'secret')),
    CONSTRAINT api_keys_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_hint_length CHECK (char_length(hint) <= 12)
);

CREATE INDEX api_keys_digest ON doorstep.api_keys (digest);

-- Confirmations -----------------------------------------------------------------------------------------------

-- That somebody was, or was not, at a place: never where they were. The location is text without a foreign key, since
-- a record must neither keep a location from being deleted nor disappear with it.
CREATE TABLE doorstep.confirmations (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    confirmation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    location_identifier text COLLATE "C",
    outcome text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    minute timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, confirmation_id),
    CONSTRAINT confirmations_location_length CHECK (char_length(location_identifier) BETWEEN 1 AND 128),
    CONSTRAINT confirmations_outcome
        CHECK (outcome IN ('inRegion', 'notInRegion', 'doesNotMatch', 'disallowed', 'undetermined')),
    CONSTRAINT confirmations_source CHECK (source IN (
        'nfc', 'app_clip_code', 'qr_code', 'maps', 'messages', 'safari', 'spotlight', 'siri', 'app', 'app_library',
        'notification', 'unknown')),
    CONSTRAINT confirmations_minute_is_whole CHECK (extract(epoch FROM minute) % 60 = 0)
);

CREATE INDEX confirmations_location_minute
    ON doorstep.confirmations (tenant_id, location_identifier, minute);

-- Audit log ---------------------------------------------------------------------------------------------------

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
-- not call a function a million times. The trigger's argument names the key columns. Digests of keys are left out, and
-- that a key was used is no change.
--
-- It runs as its owner, so that who makes a change need not be able to write an entry; the tenant is the transaction's
-- all the same, and row-level security holds. Nobody else may EXECUTE it, which a trigger that is there does not ask
-- for: with that right, a trigger on a temporary table would write whatever entries its maker likes.
CREATE FUNCTION doorstep.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY['digest', 'last_used_on'];
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
            ('api_keys', 'tenant_id, key_id')
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

-- Isolation ---------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenants', 'clips', 'domains', 'locations', 'experiences', 'short_codes', 'api_keys', 'confirmations', 'audit_log'
    ] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', name);
        -- The sub-select is evaluated once a statement instead of once a row.
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', name);
    END LOOP;
END
$$;

-- An operator lists tenants and finds one by its slug.
CREATE POLICY admin_lists_tenants ON doorstep.tenants FOR SELECT TO doorstep_admin USING (true);

-- The routing table of the server holds every tenant's; the grants below say which columns.
CREATE POLICY router_reads ON doorstep.tenants FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.clips FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.locations FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.experiences FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.short_codes FOR SELECT TO doorstep_router USING (true);

-- A key comes before the tenant is known. The owner reads keys for the function below and for nothing else; the owner
-- could lift any policy, so this one takes nothing away.
CREATE POLICY owner_authenticates ON doorstep.api_keys FOR SELECT TO doorstep_owner USING (true);
CREATE POLICY owner_authenticates ON doorstep.tenants FOR SELECT TO doorstep_owner USING (true);

-- The tenant of a key that is neither revoked nor expired, by the key's digest; no row for any other.
CREATE FUNCTION doorstep.authenticate(key_digest bytea)
    RETURNS TABLE (tenant_id uuid, key_id uuid, kind text, tenant_is_suspended boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT k.tenant_id, k.key_id, k.kind, t.suspended_at IS NOT NULL
        FROM doorstep.api_keys k
        JOIN doorstep.tenants t USING (tenant_id)
        WHERE k.digest = key_digest
            AND k.revoked_at IS NULL
            AND (k.expires_at IS NULL OR k.expires_at > now())
    $$;

-- Privileges --------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA doorstep TO doorstep_app, doorstep_admin, doorstep_router;
GRANT SELECT ON doorstep.schema_migrations TO doorstep_app, doorstep_admin;

REVOKE ALL ON FUNCTION doorstep.authenticate(bytea), doorstep.record_change() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.authenticate(bytea) TO doorstep_app;

GRANT SELECT ON doorstep.tenants, doorstep.clips, doorstep.domains, doorstep.locations, doorstep.experiences,
    doorstep.short_codes TO doorstep_app;
GRANT INSERT ON doorstep.confirmations TO doorstep_app;

GRANT SELECT, INSERT, DELETE ON doorstep.tenants, doorstep.clips, doorstep.domains, doorstep.locations,
    doorstep.experiences, doorstep.short_codes, doorstep.api_keys TO doorstep_admin;
-- What the audit log joins a row's two states by cannot change.
GRANT UPDATE (name, suspended_at) ON doorstep.tenants TO doorstep_admin;
GRANT UPDATE (parent_bundle_id, team_id, multi_business) ON doorstep.clips TO doorstep_admin;
GRANT UPDATE (challenge, claimed_at, proved_at) ON doorstep.domains TO doorstep_admin;
GRANT UPDATE (name, latitude, longitude, radius, metadata) ON doorstep.locations TO doorstep_admin;
GRANT UPDATE (bundle_id, location_identifier, identifier_rule, title, subtitle) ON doorstep.experiences
    TO doorstep_admin;
GRANT UPDATE (url) ON doorstep.short_codes TO doorstep_admin;
GRANT UPDATE (expires_at, revoked_at) ON doorstep.api_keys TO doorstep_admin;
GRANT SELECT, DELETE ON doorstep.confirmations TO doorstep_admin;
GRANT SELECT ON doorstep.audit_log TO doorstep_admin;
-- An owner may do anything with a table, unless told not to. It could give itself the right again: this is against
-- mistakes.
REVOKE UPDATE, DELETE, TRUNCATE ON doorstep.audit_log FROM doorstep_owner;

GRANT SELECT (tenant_id, slug, suspended_at) ON doorstep.tenants TO doorstep_router;
GRANT SELECT (tenant_id, bundle_id, multi_business) ON doorstep.clips TO doorstep_router;
GRANT SELECT (tenant_id, identifier, name, latitude, longitude, radius) ON doorstep.locations TO doorstep_router;
GRANT SELECT (tenant_id, kind, url, bundle_id, location_identifier, identifier_rule) ON doorstep.experiences
    TO doorstep_router;
GRANT SELECT (tenant_id, code, url) ON doorstep.short_codes TO doorstep_router;
