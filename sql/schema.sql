-- SHA-256 of the merged migrations, which never change:
-- 6a747da674ee64529d679f3eaca64b43efe302b12419dcf62d1618eb905fd95d  sql/migrations/0001_schema.sql
-- b0e3768e28e456b63bc43a70bdec21a656038b15aa83c8500287fe0c4c76d476  sql/migrations/0002_management.sql
-- 0ca7a3fa7fde8ad2a24b1dc3afbd9a0737e42f8b161f77057b69a09a9eddc8f8  sql/migrations/0003_location_details.sql
-- 43e1b01deb3de133349812d75d715046f69914e79fa0bc814c9d5d00b63360b2  sql/migrations/0004_restricted_keys.sql
-- 446731e05fb55ba669ac306cb6b0d7842f4a438996573acdc60e56052981453c  sql/migrations/0005_webhooks.sql
-- 6ec28c5b996a745c2a7e09883812d5c67fb220b2190a3ea6f04d5b6319fb8fe2  sql/migrations/0006_events.sql
-- 865e45a69212757c67fe7335404bf451154fe2d4e186a71782b57d8c42c4f1f7  sql/migrations/0007_attestation.sql
-- 53eb61e22f41e29894da612888b41564c7f246f7119deb7bfa6696117d94d45b  sql/migrations/0008_cards.sql
-- ddd6411542065bf3deae10ffaf63081833f1424a99a19a8c04c741fa7df17469  sql/migrations/0009_app_store_connections.sql
-- ceadd9093cae155a11a69e02597e8f89b957ad11598fef13add71cbc11788a4a  sql/migrations/0010_revoked_keys.sql
-- e018307bc60edc110f678f529b5dc3d07088355de4c24a75b93cec830237a488  sql/migrations/0011_landing_pages.sql
-- ee4ecc719b5a9955c63e17310ae373b52b648f27a6079c9571bcc843360b3f97  sql/migrations/0012_attestation_upkeep.sql
-- 3263841d2cade8dd26e37b14c1c75ee2eff5eb2e3d96093a2e357ffc8864d0ce  sql/migrations/0013_app_store.sql
-- 75235f05d1a7e8d1ea834f043e6338d3b3051080377731a56f4c9ec6123788b5  sql/migrations/0014_console.sql
-- 7b7a3cb267be9717220c3d77087ae88f7713223307c4d798537c6ddd8ba92a4d  sql/migrations/0015_app_store_checks.sql
-- ad2caab64f7809ac5e849a968334b46d3fc1693abd6021bdf0050249d76b5ef0  sql/migrations/0016_console_events.sql
-- d13103ae191623c26e88d14decf94f8cca505ed8281ed1b1163ca14c68c342d2  sql/migrations/0017_days_over.sql
-- 56f3a7f6ca3d6eefdf674dc36509559c796c94e4f4eda0b4b1e45c7b506ed21d  sql/migrations/0018_domain_checks.sql
-- 0c6885ddd56c55542a463000914a13fe622c0bc1080817bbc61a5e74ceea3562  sql/migrations/0019_delivery_retry.sql
-- 845570d9cff366bec14c783bc224e8da325f77e3cd81a829ef66f6874210042c  sql/migrations/0020_dead_letters.sql
-- 68d639374ebf1d7bd37f03cdfeab1ac05b81a03bc62b2c790d92fac799b9e0ba  sql/migrations/0021_console_key.sql
-- 7aa1f3fd0255e6ed5aa9c375d1ddf61a397b429b05d6922417514e2a11037b0b  sql/migrations/0022_idempotent_requests.sql
-- e95db5463fe24c3741de1e2370580c770ca9d036b0a5d79633baece684f669df  sql/migrations/0023_quotas.sql
-- 72e968861996493f04ad32b0f08f5eef385a433e02d66e0c4f6c1838a18df29d  sql/migrations/0024_contested_checks.sql
-- 2b7dd58636ac0fd8565d9d16f0179a98c46a6c883a05a2f9a68c0f0c786c3986  sql/migrations/0025_public_names.sql
-- 397de638bd9ba2c23e0bb260af79fc8caf7165ffd913f3884173dffa7d4bee50  sql/migrations/0026_default_byte_quotas.sql
-- 1dfbb1af601aee198d08083f081e4b43526658a08a5ed161de7e92b4219bab1f  sql/migrations/0027_settlements_on_standbys.sql
-- ec7def6a11905f5367527d341348e012d15ed7305f39077dffaa8bbda741b7b0  sql/migrations/0028_trace_contexts.sql
-- 3f58943bf5c59ea8b021a22919247f8637a69223bb0f6450852dce6ff1de712c  sql/migrations/0029_cors_origins.sql
-- 18da230223ac8b92a3de2b87aa97c20f4c45f72e1ba3034509639093820ab50f  sql/migrations/0030_webhook_overlaps.sql
-- 78ce63caa13e344ca4c4ebc90fe03f61a2c99bb9b03d52d2ac6c050772d8a0ad  sql/migrations/0031_webhook_responses.sql
-- de983ca64e1fa0f50d65a986e1bb7806c15efdc7229fd6b435127beecaf4d46b  sql/migrations/0032_event_log.sql
-- e122780c33876d5017c9f2dc6b87f36956c4b2488809be5f0dbede6de1bf687b  sql/migrations/0033_token_secrets.sql
-- 9cb9aff2e9d1573de179118dc10c1ffe4b0b6631b8f2fe013dc0c69a03078b2f  sql/migrations/0034_more_quotas.sql
-- 26abee9af174e8f345ec47a8fd16b6bb4a3e91a9b3e11369671edbd1a1c8bf9f  sql/migrations/0035_launch_days.sql
-- 15d8b56104e4eca2b5a67001d7df127238b63e9f3a47f622afc3a92e9a764edb  sql/migrations/0036_refused_requests.sql
-- 94f49dad2cb022b2e06062bd4e0349db0175750c8380b78e67a42d25907be5c7  sql/migrations/0037_names.sql
-- 2e3d2286cd3a91e08a0e00f86de848d7ea820dd15d572e1aee1cb0f1ca63ad0f  sql/migrations/0038_cancelled_notifications.sql
-- 4e7c3e1357063089805355895fd1f9543d078107d1705163b773eddbbba40df1  sql/migrations/0039_test_tenants.sql
-- e8d45e2b73751704420075946bfd65ead1b730dce2207748de0f29902226ed14  sql/migrations/0040_servers.sql

--
-- PostgreSQL database dump
--

--
-- Name: doorstep; Type: SCHEMA; Schema: -; Owner: doorstep_owner
--

CREATE SCHEMA doorstep;

ALTER SCHEMA doorstep OWNER TO doorstep_owner;

--
-- Name: add_confirmation_days(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.add_confirmation_days() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    AS $_$
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
$_$;

ALTER FUNCTION doorstep.add_confirmation_days() OWNER TO doorstep_owner;

--
-- Name: add_notification_days(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.add_notification_days() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
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

ALTER FUNCTION doorstep.add_notification_days() OWNER TO doorstep_owner;

--
-- Name: add_usage(text, bigint, bigint); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.add_usage(of_kind text, added_rows bigint, added_bytes bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    counted jsonb := nullif(current_setting('doorstep.counted_usage', true), '')::jsonb;
BEGIN
    IF counted IS NULL THEN
        counted := '{}';
        INSERT INTO doorstep.usage_settlements DEFAULT VALUES;
    END IF;
    PERFORM set_config('doorstep.counted_usage', (counted || jsonb_build_object(of_kind, jsonb_build_array(
        coalesce((counted -> of_kind ->> 0)::bigint, 0) + added_rows,
        coalesce((counted -> of_kind ->> 1)::bigint, 0) + added_bytes)))::text, true);
END
$$;

ALTER FUNCTION doorstep.add_usage(of_kind text, added_rows bigint, added_bytes bigint) OWNER TO doorstep_owner;

--
-- Name: begin_usage(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.begin_usage() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO doorstep.tenant_usage (tenant_id, kind) SELECT NEW.tenant_id, kind FROM doorstep.quota_defaults;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.begin_usage() OWNER TO doorstep_owner;

--
-- Name: check_keys_of_test_tenants(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.check_keys_of_test_tenants() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_rows n JOIN doorstep.tenants t USING (tenant_id)
        WHERE t.is_test <> starts_with(substr(n.hint, 4), '_test_'))
    THEN
        RAISE check_violation USING MESSAGE = 'a test tenant, and no other, has keys with _test_', CONSTRAINT = 'api_keys_of_test_tenants';
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.check_keys_of_test_tenants() OWNER TO doorstep_owner;

--
-- Name: confirmation_days(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.confirmation_days() RETURNS TABLE(day date, partition text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
        SELECT to_date(right(relname, 8), 'YYYYMMDD'), relname::text
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'doorstep.confirmations'::regclass AND relname ~ '^confirmations_[0-9]{8}$'
    $_$;

ALTER FUNCTION doorstep.confirmation_days() OWNER TO doorstep_owner;

--
-- Name: count_rows(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.count_rows() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    tenant uuid := doorstep.current_tenant_id();
    counted_kind text := TG_TABLE_NAME;
    change bigint;
    used bigint;
    maximum bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT -count(*) INTO change FROM old_rows;
    ELSE
        SELECT count(*) INTO change FROM new_rows;
    END IF;
    -- Rows that a superuser writes for no tenant do not count.
    IF change = 0 OR tenant IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'deliveries' THEN
        INSERT INTO doorstep.row_counts AS c (tenant_id, kind, counted_on, shard, row_count)
        SELECT tenant, counted_kind, (created_at AT TIME ZONE 'UTC')::date, pg_backend_pid() % 8, count(*)
        FROM new_rows GROUP BY 3
        ON CONFLICT ON CONSTRAINT row_counts_pkey DO UPDATE SET row_count = c.row_count + excluded.row_count;
    ELSE
        -- Rows that are deleted with their tenant are not counted. Deletions have shards of their own, because a registration that has
        -- counted its row may wait for a row that is being deleted.
        INSERT INTO doorstep.row_counts AS c (tenant_id, kind, counted_on, shard, row_count)
        SELECT tenant, counted_kind, date '-infinity', pg_backend_pid() % 8 + CASE TG_OP WHEN 'DELETE' THEN 8 ELSE 0 END, change
        WHERE EXISTS (SELECT FROM doorstep.tenants AS t WHERE t.tenant_id = tenant)
        ON CONFLICT ON CONSTRAINT row_counts_pkey DO UPDATE SET row_count = c.row_count + excluded.row_count;
    END IF;
    IF change < 0 THEN
        RETURN NULL;
    END IF;
    SELECT coalesce((t.quotas -> counted_kind ->> 'rows')::bigint, d.maximum_rows) INTO maximum
    FROM doorstep.tenants AS t, doorstep.quota_defaults AS d
    WHERE t.tenant_id = tenant AND d.kind = counted_kind;
    SELECT sum(c.row_count) INTO used FROM doorstep.row_counts AS c WHERE c.tenant_id = tenant AND c.kind = counted_kind;
    IF used > maximum THEN
        RAISE EXCEPTION USING ERRCODE = 'DQ001', MESSAGE = 'a quota of the tenant is exceeded',
            DETAIL = jsonb_build_object(
                'kind', counted_kind, 'unit', 'rows', 'limit', maximum, 'current', used - change, 'wouldBe', used)::text;
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.count_rows() OWNER TO doorstep_owner;

--
-- Name: count_usage(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.count_usage() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    added bigint[] := '{0,0}';
    removed bigint[] := '{0,0}';
BEGIN
    IF TG_OP <> 'DELETE' THEN
        EXECUTE format('SELECT ARRAY[count(*) FILTER (WHERE %s), coalesce(sum(%s), 0)::bigint] FROM new_rows',
            TG_ARGV[2], TG_ARGV[1]) INTO added;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        EXECUTE format('SELECT ARRAY[count(*) FILTER (WHERE %s), coalesce(sum(%s), 0)::bigint] FROM old_rows',
            TG_ARGV[2], TG_ARGV[1]) INTO removed;
    END IF;
    IF added <> removed THEN
        PERFORM doorstep.add_usage(TG_ARGV[0], added[1] - removed[1], added[2] - removed[2]);
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.count_usage() OWNER TO doorstep_owner;

--
-- Name: current_tenant_id(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.current_tenant_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('doorstep.tenant_id', true), '')::uuid $$;

ALTER FUNCTION doorstep.current_tenant_id() OWNER TO doorstep_owner;

--
-- Name: delete_confirmations_of_tenant(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.delete_confirmations_of_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM doorstep.confirmations WHERE tenant_id = OLD.tenant_id;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.delete_confirmations_of_tenant() OWNER TO doorstep_owner;

--
-- Name: delete_notifications_of_tenant(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.delete_notifications_of_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM doorstep.deliveries WHERE tenant_id = OLD.tenant_id AND token_kind <> '';
    DELETE FROM doorstep.notifications WHERE tenant_id = OLD.tenant_id AND push_type <> '';
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.delete_notifications_of_tenant() OWNER TO doorstep_owner;

--
-- Name: drop_confirmation_days(integer); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.drop_confirmation_days(retention integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
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

ALTER FUNCTION doorstep.drop_confirmation_days(retention integer) OWNER TO doorstep_owner;

--
-- Name: drop_notification_days(integer); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.drop_notification_days(retention integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '500ms'
    AS $_$
DECLARE
    -- Without a time of its own a delivery is tried for a day. For an hour after its end an answer may still be recorded.
    over_since constant timestamptz := now() - interval '1 hour';
    look constant text := 'SELECT EXISTS (SELECT FROM doorstep.%I WHERE due_at IS NOT NULL
        AND coalesce(expires_at, created_at + interval ''1 day'') > $1)';
    day text;
    may_be_needed boolean;
    is_needed boolean;
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
        -- No notification is taken that is to be sent more than 30 days later.
        may_be_needed := to_date(day, 'YYYYMMDD') + 31 > over_since;
        -- Without a lock first: a day that is kept holds up nobody.
        IF may_be_needed THEN
            EXECUTE format(look, 'deliveries_' || day) INTO is_needed USING over_since;
            CONTINUE WHEN is_needed;
        END IF;
        EXECUTE format('LOCK TABLE doorstep.%I, doorstep.%I IN ACCESS EXCLUSIVE MODE',
            'notifications_' || day, 'deliveries_' || day);
        IF may_be_needed THEN
            EXECUTE format(look, 'deliveries_' || day) INTO is_needed USING over_since;
            CONTINUE WHEN is_needed;
        END IF;
        EXECUTE format('DROP TABLE doorstep.%I, doorstep.%I', 'notifications_' || day, 'deliveries_' || day);
        DELETE FROM doorstep.row_counts WHERE kind = 'deliveries' AND counted_on = to_date(day, 'YYYYMMDD');
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$_$;

ALTER FUNCTION doorstep.drop_notification_days(retention integer) OWNER TO doorstep_owner;

--
-- Name: index_confirmation_days(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.index_confirmation_days() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
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

ALTER FUNCTION doorstep.index_confirmation_days() OWNER TO doorstep_owner;

--
-- Name: note_token_secret(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.note_token_secret() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    sealed bytea;
    id bytea;
BEGIN
    IF TG_TABLE_NAME = 'push_tokens' THEN sealed := NEW.sealed; ELSE sealed := NEW.sealed_secret; END IF;
    id := substr(sealed, 2, 4);
    -- The first byte is the version of the format.
    IF get_byte(sealed, 0) = 1 AND NOT EXISTS (SELECT FROM doorstep.token_secrets WHERE secret_id = id) THEN
        INSERT INTO doorstep.token_secrets (secret_id) VALUES (id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.note_token_secret() OWNER TO doorstep_owner;

--
-- Name: prune_audit_log(integer); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.prune_audit_log(retention integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    pruned integer := 0;
    part record;
BEGIN
    IF retention IS NULL OR retention NOT BETWEEN 7 AND 36500 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the audit log is kept for 7 to 36500 days';
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('doorstep.prune_audit_log', 0))
        OR NOT EXISTS (SELECT FROM doorstep.audit_log WHERE at < now() - make_interval(days => retention)) THEN
        RETURN 0;
    END IF;
    GRANT DELETE ON doorstep.audit_log TO doorstep_owner;
    FOR part IN
        WITH deleted AS (
            DELETE FROM doorstep.audit_log
            WHERE at < now() - make_interval(days => retention) AND ctid = ANY (ARRAY(
                SELECT ctid FROM doorstep.audit_log
                WHERE at < now() - make_interval(days => retention)
                ORDER BY at LIMIT 1000))
            RETURNING audit_log.tenant_id, audit_log.byte_count)
        SELECT d.tenant_id, count(*) AS entries, count(d.byte_count) AS counted, coalesce(sum(d.byte_count), 0) AS bytes
        FROM deleted AS d GROUP BY d.tenant_id
    LOOP
        pruned := pruned + part.entries;
        CONTINUE WHEN part.counted = 0;
        PERFORM set_config('doorstep.tenant_id', part.tenant_id::text, true);
        UPDATE doorstep.tenant_usage AS u SET row_count = u.row_count - part.counted, byte_count = u.byte_count - part.bytes
        WHERE u.tenant_id = part.tenant_id AND u.kind = 'audit_log';
    END LOOP;
    PERFORM set_config('doorstep.tenant_id', '', true);
    REVOKE DELETE ON doorstep.audit_log FROM doorstep_owner;
    RETURN pruned;
END
$$;

ALTER FUNCTION doorstep.prune_audit_log(retention integer) OWNER TO doorstep_owner;

--
-- Name: prune_changes(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.prune_changes() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

ALTER FUNCTION doorstep.prune_changes() OWNER TO doorstep_owner;

--
-- Name: prune_console_events(integer); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.prune_console_events(retention integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

ALTER FUNCTION doorstep.prune_console_events(retention integer) OWNER TO doorstep_owner;

--
-- Name: record_act(text, text, jsonb, jsonb); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

ALTER FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) OWNER TO doorstep_owner;

--
-- Name: record_change(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    actor text := coalesce(nullif(current_setting('doorstep.actor', true), ''), session_user);
    hidden text[] := ARRAY[
        'digest', 'last_used_on', 'sealed_secret', 'previous_sealed_secret', 'failing_since', 'checked_at'];
    -- The server's own changes have no actor, or `server`.
    is_counted boolean := coalesce(current_setting('doorstep.actor', true), '') NOT IN ('', 'server')
        AND TG_TABLE_NAME NOT IN ('tenants', 'revoked_attest_keys')
        AND coalesce(current_setting('doorstep.deleting', true), '') = '';
    added bigint[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, before)
        SELECT o.tenant_id, actor, session_user, 'delete', TG_TABLE_NAME, to_jsonb(o) - hidden FROM old_rows o;
        RETURN NULL;
    END IF;
    -- OFFSET 0, so that each row is converted once.
    IF TG_OP = 'INSERT' THEN
        WITH entries AS (
            INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, after, byte_count)
            SELECT e.tenant_id, actor, session_user, 'insert', TG_TABLE_NAME, e.after,
                CASE WHEN is_counted THEN pg_column_size(e.after) END
            FROM (SELECT n.tenant_id, to_jsonb(n) - hidden AS after FROM new_rows n OFFSET 0) AS e
            RETURNING audit_log.byte_count)
        SELECT ARRAY[count(e.byte_count), sum(e.byte_count)] INTO added FROM entries AS e;
    ELSE
        EXECUTE format(
            'WITH entries AS (
                INSERT INTO doorstep.audit_log (tenant_id, actor, login, action, relation, before, after, byte_count)
                SELECT e.tenant_id, $1, session_user, ''update'', $2, e.before, e.after,
                    CASE WHEN $4 AND e.before -> ''revoked_at'' IS NOT DISTINCT FROM e.after -> ''revoked_at''
                        THEN pg_column_size(e.before) + pg_column_size(e.after) END
                FROM (
                    SELECT tenant_id, to_jsonb(o) - $3 AS before, to_jsonb(n) - $3 AS after
                    FROM old_rows o JOIN new_rows n USING (%s) OFFSET 0) AS e
                WHERE e.before IS DISTINCT FROM e.after
                RETURNING audit_log.byte_count)
             SELECT ARRAY[count(e.byte_count), sum(e.byte_count)] FROM entries AS e', TG_ARGV[0])
        INTO added USING actor, TG_TABLE_NAME, hidden, is_counted;
    END IF;
    IF added[1] > 0 THEN
        PERFORM doorstep.add_usage('audit_log', added[1], added[2]);
    END IF;
    RETURN NULL;
END
$_$;

ALTER FUNCTION doorstep.record_change() OWNER TO doorstep_owner;

--
-- Name: record_routing_change(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.record_routing_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;

ALTER FUNCTION doorstep.record_routing_change() OWNER TO doorstep_owner;

--
-- Name: renew_presence(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.renew_presence() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.present_since := now();
    RETURN NEW;
END
$$;

ALTER FUNCTION doorstep.renew_presence() OWNER TO doorstep_owner;

--
-- Name: require_confirmed_tenant(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.require_confirmed_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

ALTER FUNCTION doorstep.require_confirmed_tenant() OWNER TO doorstep_owner;

--
-- Name: require_notifying_tenant(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.require_notifying_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM doorstep.tenants WHERE tenant_id = doorstep.current_tenant_id() FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'a notification is of a tenant that there is not';
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.require_notifying_tenant() OWNER TO doorstep_owner;

--
-- Name: settle_usage(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.settle_usage() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    counted jsonb := nullif(current_setting('doorstep.counted_usage', true), '')::jsonb;
    tenant uuid := doorstep.current_tenant_id();
    excess jsonb;
BEGIN
    DELETE FROM doorstep.usage_settlements WHERE settlement_id = NEW.settlement_id;
    counted := counted || (
        SELECT jsonb_build_object('total', jsonb_build_array(
            coalesce(sum((value ->> 0)::bigint), 0), coalesce(sum((value ->> 1)::bigint), 0)))
        FROM jsonb_each(counted) WHERE key <> 'audit_log');
    -- This row first: whoever has it has all of the tenant's.
    UPDATE doorstep.tenant_usage
    SET row_count = row_count + (counted #>> '{total,0}')::bigint, byte_count = byte_count + (counted #>> '{total,1}')::bigint
    WHERE tenant_id = tenant AND kind = 'total';
    UPDATE doorstep.tenant_usage
    SET row_count = row_count + (value ->> 0)::bigint, byte_count = byte_count + (value ->> 1)::bigint
    FROM jsonb_each(counted)
    WHERE tenant_id = tenant AND kind = key AND kind <> 'total' AND value <> '[0, 0]';

    -- What does not grow is not refused, so that a tenant above its quota can still delete and shorten.
    SELECT jsonb_build_object(
        'kind', kind, 'unit', unit, 'limit', maximum, 'current', amount - change, 'wouldBe', amount) INTO excess
    FROM doorstep.tenant_quotas(tenant) q, jsonb_each(counted), LATERAL (VALUES
        ('rows', (value ->> 0)::bigint, row_count, maximum_rows),
        ('bytes', (value ->> 1)::bigint, byte_count, maximum_bytes)) AS v (unit, change, amount, maximum)
    WHERE key = kind AND change > 0 AND amount > maximum
    ORDER BY kind = 'total', kind, unit DESC LIMIT 1;
    IF excess IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'DQ001', MESSAGE = 'a quota of the tenant is exceeded', DETAIL = excess::text;
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION doorstep.settle_usage() OWNER TO doorstep_owner;

--
-- Name: tell_webhooks(); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.tell_webhooks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

ALTER FUNCTION doorstep.tell_webhooks() OWNER TO doorstep_owner;

--
-- Name: tenant_quotas(uuid); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.tenant_quotas(of_tenant uuid) RETURNS TABLE(kind text, row_count bigint, byte_count bigint, maximum_rows bigint, maximum_bytes bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT u.kind,
        CASE WHEN u.kind IN ('deliveries', 'instances') THEN (
            SELECT coalesce(sum(c.row_count), 0)::bigint FROM doorstep.row_counts c
            WHERE c.tenant_id = of_tenant AND c.kind = u.kind)
        ELSE u.row_count END,
        u.byte_count,
        coalesce((t.quotas -> u.kind ->> 'rows')::bigint, d.maximum_rows),
        coalesce((t.quotas -> u.kind ->> 'bytes')::bigint, d.maximum_bytes)
    FROM doorstep.tenant_usage u JOIN doorstep.tenants t USING (tenant_id) JOIN doorstep.quota_defaults d ON d.kind = u.kind
    WHERE u.tenant_id = of_tenant
$$;

ALTER FUNCTION doorstep.tenant_quotas(of_tenant uuid) OWNER TO doorstep_owner;

--
-- Name: trim_audit_log(uuid); Type: FUNCTION; Schema: doorstep; Owner: doorstep_owner
--

CREATE FUNCTION doorstep.trim_audit_log(of_tenant uuid) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    trimmed record;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('doorstep.prune_audit_log', 0)) THEN
        RETURN 0;
    END IF;
    PERFORM set_config('doorstep.tenant_id', of_tenant::text, true);
    IF NOT EXISTS (
        SELECT FROM doorstep.tenant_quotas(of_tenant) AS q
        WHERE q.kind = 'audit_log' AND (q.row_count > 0.8 * q.maximum_rows OR q.byte_count > 0.8 * q.maximum_bytes)) THEN
        RETURN 0;
    END IF;
    GRANT DELETE ON doorstep.audit_log TO doorstep_owner;
    WITH deleted AS (
        DELETE FROM doorstep.audit_log
        WHERE tenant_id = of_tenant AND at < now() - interval '7 days' AND entry_id IN (
            SELECT entry_id FROM doorstep.audit_log
            WHERE tenant_id = of_tenant AND byte_count IS NOT NULL ORDER BY entry_id LIMIT 1000)
        RETURNING audit_log.byte_count)
    SELECT count(*) AS entries, count(d.byte_count) AS counted, coalesce(sum(d.byte_count), 0) AS bytes INTO trimmed
    FROM deleted AS d;
    UPDATE doorstep.tenant_usage AS u SET row_count = u.row_count - trimmed.counted, byte_count = u.byte_count - trimmed.bytes
    WHERE u.tenant_id = of_tenant AND u.kind = 'audit_log';
    REVOKE DELETE ON doorstep.audit_log FROM doorstep_owner;
    RETURN trimmed.entries;
END
$$;

ALTER FUNCTION doorstep.trim_audit_log(of_tenant uuid) OWNER TO doorstep_owner;

--
-- Name: api_keys; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.api_keys (
    tenant_id uuid NOT NULL,
    key_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    hint text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_on date,
    scopes text[] NOT NULL COLLATE pg_catalog."C",
    successor_id uuid,
    locations text[] COLLATE pg_catalog."C",
    name text,
    CONSTRAINT api_keys_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT api_keys_hint_length CHECK ((char_length(hint) <= 16)),
    CONSTRAINT api_keys_kind CHECK ((kind = ANY (ARRAY['publishable'::text, 'secret'::text]))),
    CONSTRAINT api_keys_locations CHECK (((locations IS NULL) OR (((cardinality(locations) >= 1) AND (cardinality(locations) <= 100)) AND (array_position(locations, NULL::text) IS NULL) AND (''::text <> ALL (locations)) AND (kind = 'secret'::text) AND (NOT (scopes && ARRAY['manage'::text, 'manage_keys'::text]))))),
    CONSTRAINT api_keys_locations_characters CHECK ((array_to_string(locations, ''::text) !~ '[\u0001-\u001F\u007F-\u009F]'::text)),
    CONSTRAINT api_keys_name_characters CHECK ((name !~ '[\u0001-\u001F\u007F-\u009F]'::text)),
    CONSTRAINT api_keys_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128))),
    CONSTRAINT api_keys_scopes CHECK (((cardinality(scopes) > 0) AND (scopes <@
CASE kind
    WHEN 'publishable'::text THEN ARRAY['lookup'::text, 'confirm'::text, 'register'::text]
    ELSE ARRAY['lookup'::text, 'confirm'::text, 'compose'::text, 'register'::text, 'notify'::text, 'read'::text, 'manage'::text, 'manage_keys'::text]
END)))
);

ALTER TABLE ONLY doorstep.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.api_keys OWNER TO doorstep_owner;

--
-- Name: app_store_budget; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_budget (
    tenant_id uuid NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    spent integer NOT NULL,
    CONSTRAINT app_store_budget_spent_range CHECK (((spent >= 0) AND (spent <= 10000000)))
);

ALTER TABLE ONLY doorstep.app_store_budget FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_budget OWNER TO doorstep_owner;

--
-- Name: app_store_check_rows; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_check_rows (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    location_identifier text COLLATE pg_catalog."C",
    row_json jsonb NOT NULL,
    CONSTRAINT app_store_check_rows_row_json_length CHECK ((octet_length((row_json)::text) <= 1048576))
);

ALTER TABLE ONLY doorstep.app_store_check_rows FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_check_rows OWNER TO doorstep_owner;

--
-- Name: app_store_checks; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_checks (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL,
    checked_at timestamp with time zone,
    counts jsonb,
    summary jsonb,
    findings_digest bytea,
    failure text COLLATE pg_catalog."C",
    CONSTRAINT app_store_checks_failure_length CHECK (((char_length(failure) >= 1) AND (char_length(failure) <= 128))),
    CONSTRAINT app_store_checks_findings_digest_length CHECK ((octet_length(findings_digest) = 32)),
    CONSTRAINT app_store_checks_found CHECK ((num_nulls(checked_at, counts, summary, findings_digest) = ANY (ARRAY[0, 4]))),
    CONSTRAINT app_store_checks_summary_length CHECK ((octet_length((summary)::text) <= 4194304))
);

ALTER TABLE ONLY doorstep.app_store_checks FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_checks OWNER TO doorstep_owner;

--
-- Name: app_store_connections; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_connections (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    issuer_id text COLLATE pg_catalog."C",
    sealed_secret bytea NOT NULL,
    connected_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT app_store_connections_issuer_id_form CHECK ((issuer_id ~ '^[!-~]{1,64}$'::text)),
    CONSTRAINT app_store_connections_key_id_form CHECK ((key_id ~ '^[!-~]{1,64}$'::text)),
    CONSTRAINT app_store_connections_sealed_secret_length CHECK (((octet_length(sealed_secret) >= 33) AND (octet_length(sealed_secret) <= 4096)))
);

ALTER TABLE ONLY doorstep.app_store_connections FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_connections OWNER TO doorstep_owner;

--
-- Name: app_store_experiences; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_experiences (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    phase text NOT NULL COLLATE pg_catalog."C",
    remote_id text COLLATE pg_catalog."C",
    content jsonb NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    missing_listings smallint DEFAULT 0 NOT NULL,
    undesired_since timestamp with time zone,
    CONSTRAINT app_store_experiences_content_length CHECK ((octet_length((content)::text) <= 131072)),
    CONSTRAINT app_store_experiences_missing_listings_range CHECK (((missing_listings >= 0) AND (missing_listings <= 100))),
    CONSTRAINT app_store_experiences_phase CHECK ((phase = ANY (ARRAY['creating'::text, 'created'::text]))),
    CONSTRAINT app_store_experiences_remote_id CHECK (((phase = 'created'::text) = (remote_id IS NOT NULL))),
    CONSTRAINT app_store_experiences_remote_id_length CHECK (((char_length(remote_id) >= 1) AND (char_length(remote_id) <= 256)))
);

ALTER TABLE ONLY doorstep.app_store_experiences FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_experiences OWNER TO doorstep_owner;

--
-- Name: app_store_images; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_images (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    sha256 text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    remote_id text NOT NULL COLLATE pg_catalog."C",
    phase text NOT NULL COLLATE pg_catalog."C",
    sealed_operations bytea,
    reserved_at timestamp with time zone NOT NULL,
    CONSTRAINT app_store_images_phase CHECK ((phase = ANY (ARRAY['reserved'::text, 'committed'::text, 'complete'::text, 'failed'::text]))),
    CONSTRAINT app_store_images_remote_id_length CHECK (((char_length(remote_id) >= 1) AND (char_length(remote_id) <= 256))),
    CONSTRAINT app_store_images_sealed_operations CHECK (((phase = 'reserved'::text) = (sealed_operations IS NOT NULL))),
    CONSTRAINT app_store_images_sealed_operations_length CHECK (((octet_length(sealed_operations) >= 33) AND (octet_length(sealed_operations) <= 1048576))),
    CONSTRAINT app_store_images_sha256_form CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY doorstep.app_store_images FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_images OWNER TO doorstep_owner;

--
-- Name: app_store_refusals; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_refusals (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    content jsonb NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    source text COLLATE pg_catalog."C",
    request_id text COLLATE pg_catalog."C",
    refused_at timestamp with time zone NOT NULL,
    CONSTRAINT app_store_refusals_code_length CHECK (((char_length(code) >= 1) AND (char_length(code) <= 128))),
    CONSTRAINT app_store_refusals_content_length CHECK ((octet_length((content)::text) <= 131072))
);

ALTER TABLE ONLY doorstep.app_store_refusals FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_refusals OWNER TO doorstep_owner;

--
-- Name: app_store_removals; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_removals (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    remote_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    removed_at timestamp with time zone NOT NULL,
    CONSTRAINT app_store_removals_remote_id_length CHECK (((char_length(remote_id) >= 1) AND (char_length(remote_id) <= 256)))
);

ALTER TABLE ONLY doorstep.app_store_removals FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_removals OWNER TO doorstep_owner;

--
-- Name: app_store_runs; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.app_store_runs (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text COLLATE pg_catalog."C",
    CONSTRAINT app_store_runs_ended CHECK (((ended_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT app_store_runs_outcome CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'abandoned'::text])))
);

ALTER TABLE ONLY doorstep.app_store_runs FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.app_store_runs OWNER TO doorstep_owner;

--
-- Name: attest_keys; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.attest_keys (
    tenant_id uuid NOT NULL,
    key_id bytea NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    public_key bytea NOT NULL,
    attestation_digest bytea NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    category smallint,
    bundle_version text,
    attested_on date NOT NULL,
    last_used_on date NOT NULL,
    CONSTRAINT attest_keys_attestation_digest_length CHECK ((octet_length(attestation_digest) = 32)),
    CONSTRAINT attest_keys_bundle_version_length CHECK ((octet_length(bundle_version) <= 255)),
    CONSTRAINT attest_keys_counter_range CHECK (((counter >= 0) AND (counter <= '4294967295'::bigint))),
    CONSTRAINT attest_keys_environment CHECK ((environment = ANY (ARRAY['production'::text, 'development'::text]))),
    CONSTRAINT attest_keys_key_id_length CHECK ((octet_length(key_id) = 32)),
    CONSTRAINT attest_keys_public_key_length CHECK ((octet_length(public_key) = 65))
)
WITH (fillfactor='70');

ALTER TABLE ONLY doorstep.attest_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.attest_keys OWNER TO doorstep_owner;

--
-- Name: attestation_days; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.attestation_days (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    by_token bigint NOT NULL,
    signed bigint NOT NULL,
    not_attested bigint NOT NULL,
    CONSTRAINT attestation_days_counts CHECK (((by_token >= 0) AND (signed >= 0) AND (not_attested >= 0))),
    CONSTRAINT attestation_days_operation CHECK ((operation = ANY (ARRAY['lookup'::text, 'confirm'::text, 'register'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY doorstep.attestation_days FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.attestation_days OWNER TO doorstep_owner;

--
-- Name: audience_cursors; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.audience_cursors (
    tenant_id uuid NOT NULL,
    notification_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    launched_at timestamp with time zone NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    instance_id uuid NOT NULL,
    delivery_count integer NOT NULL,
    CONSTRAINT audience_cursors_delivery_count_range CHECK ((delivery_count >= 0))
);

ALTER TABLE ONLY doorstep.audience_cursors FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.audience_cursors OWNER TO doorstep_owner;

--
-- Name: audit_log; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.audit_log (
    tenant_id uuid NOT NULL,
    entry_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    login text DEFAULT SESSION_USER NOT NULL,
    action text NOT NULL COLLATE pg_catalog."C",
    relation text NOT NULL COLLATE pg_catalog."C",
    before jsonb,
    after jsonb,
    byte_count integer,
    CONSTRAINT audit_log_action CHECK ((action = ANY (ARRAY['insert'::text, 'update'::text, 'delete'::text]))),
    CONSTRAINT audit_log_states CHECK ((((action <> 'insert'::text) = (before IS NOT NULL)) AND ((action <> 'delete'::text) = (after IS NOT NULL))))
);

ALTER TABLE ONLY doorstep.audit_log FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.audit_log OWNER TO doorstep_owner;

--
-- Name: audit_log_entry_id_seq; Type: SEQUENCE; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.audit_log ALTER COLUMN entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME doorstep.audit_log_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: card_image_bytes; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.card_image_bytes (
    tenant_id uuid NOT NULL,
    sha256 text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL,
    CONSTRAINT card_image_bytes_sha256 CHECK ((encode(sha256(bytes), 'hex'::text) = sha256))
);
ALTER TABLE ONLY doorstep.card_image_bytes ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE ONLY doorstep.card_image_bytes FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.card_image_bytes OWNER TO doorstep_owner;

--
-- Name: card_images; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.card_images (
    tenant_id uuid NOT NULL,
    sha256 text NOT NULL COLLATE pg_catalog."C",
    media_type text NOT NULL COLLATE pg_catalog."C",
    byte_count integer NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT card_images_byte_count_range CHECK (((byte_count >= 1) AND (byte_count <= 10485760))),
    CONSTRAINT card_images_media_type CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text]))),
    CONSTRAINT card_images_sha256_form CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE ONLY doorstep.card_images FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.card_images OWNER TO doorstep_owner;

--
-- Name: change_horizon; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.change_horizon (
    is_only boolean DEFAULT true NOT NULL,
    pruned_xid xid8 NOT NULL,
    CONSTRAINT change_horizon_is_only CHECK (is_only)
);

ALTER TABLE doorstep.change_horizon OWNER TO doorstep_owner;

--
-- Name: changes; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.changes (
    tenant_id uuid NOT NULL,
    change_id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    relation text NOT NULL COLLATE pg_catalog."C",
    key text[] COLLATE pg_catalog."C"
);

ALTER TABLE ONLY doorstep.changes FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.changes OWNER TO doorstep_owner;

--
-- Name: changes_change_id_seq; Type: SEQUENCE; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.changes ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME doorstep.changes_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: channels; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.channels (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    channel_id text NOT NULL COLLATE pg_catalog."C",
    stores_last_message boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT channels_channel_id_length CHECK (((octet_length(channel_id) >= 1) AND (octet_length(channel_id) <= 128))),
    CONSTRAINT channels_environment CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);

ALTER TABLE ONLY doorstep.channels FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.channels OWNER TO doorstep_owner;

--
-- Name: clips; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.clips (
    tenant_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    parent_bundle_id text NOT NULL COLLATE pg_catalog."C",
    team_id text NOT NULL COLLATE pg_catalog."C",
    multi_business boolean DEFAULT false NOT NULL,
    app_id_prefix text COLLATE pg_catalog."C",
    attestation jsonb,
    app_store_id text COLLATE pg_catalog."C",
    android_url text COLLATE pg_catalog."C",
    site_name text,
    card jsonb,
    card_image text COLLATE pg_catalog."C",
    CONSTRAINT clips_android_url_form CHECK ((starts_with(android_url, 'https://'::text) AND (octet_length(android_url) <= 2048))),
    CONSTRAINT clips_app_id_prefix_form CHECK ((app_id_prefix ~ '^[A-Z0-9]{10}$'::text)),
    CONSTRAINT clips_app_store_id_form CHECK ((app_store_id ~ '^[1-9][0-9]{0,18}$'::text)),
    CONSTRAINT clips_attestation_is_object CHECK ((jsonb_typeof(attestation) = 'object'::text)),
    CONSTRAINT clips_attestation_length CHECK ((octet_length((attestation)::text) <= 1024)),
    CONSTRAINT clips_bundle_id_form CHECK (((bundle_id ~ '^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$'::text) AND (octet_length(bundle_id) <= 155))),
    CONSTRAINT clips_parent_is_prefix CHECK (starts_with(bundle_id, (parent_bundle_id || '.'::text))),
    CONSTRAINT clips_site_name_length CHECK (((char_length(site_name) >= 1) AND (char_length(site_name) <= 128))),
    CONSTRAINT clips_team_id_form CHECK ((team_id ~ '^[A-Z0-9]{10}$'::text))
);

ALTER TABLE ONLY doorstep.clips FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.clips OWNER TO doorstep_owner;

--
-- Name: confirmations; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.confirmations (
    tenant_id uuid NOT NULL,
    confirmation_id uuid NOT NULL,
    location_identifier text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    attestation smallint DEFAULT 0 NOT NULL,
    CONSTRAINT confirmations_location_length CHECK (((char_length(location_identifier) >= 1) AND (char_length(location_identifier) <= 128))),
    CONSTRAINT confirmations_minute_is_whole CHECK ((isfinite(minute) AND (date_trunc('minute'::text, minute, 'UTC'::text) = minute))),
    CONSTRAINT confirmations_outcome CHECK ((outcome = ANY (ARRAY['inRegion'::text, 'notInRegion'::text, 'doesNotMatch'::text, 'disallowed'::text, 'undetermined'::text]))),
    CONSTRAINT confirmations_source CHECK ((source = ANY (ARRAY['nfc'::text, 'app_clip_code'::text, 'qr_code'::text, 'maps'::text, 'messages'::text, 'mail'::text, 'safari'::text, 'spotlight'::text, 'siri'::text, 'app'::text, 'app_library'::text, 'notification'::text, 'unknown'::text])))
)
PARTITION BY RANGE (minute);

ALTER TABLE ONLY doorstep.confirmations FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.confirmations OWNER TO doorstep_owner;

--
-- Name: confirmations_default; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.confirmations_default (
    tenant_id uuid NOT NULL,
    confirmation_id uuid NOT NULL,
    location_identifier text COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    attestation smallint DEFAULT 0 NOT NULL,
    CONSTRAINT confirmations_location_length CHECK (((char_length(location_identifier) >= 1) AND (char_length(location_identifier) <= 128))),
    CONSTRAINT confirmations_minute_is_whole CHECK ((isfinite(minute) AND (date_trunc('minute'::text, minute, 'UTC'::text) = minute))),
    CONSTRAINT confirmations_outcome CHECK ((outcome = ANY (ARRAY['inRegion'::text, 'notInRegion'::text, 'doesNotMatch'::text, 'disallowed'::text, 'undetermined'::text]))),
    CONSTRAINT confirmations_source CHECK ((source = ANY (ARRAY['nfc'::text, 'app_clip_code'::text, 'qr_code'::text, 'maps'::text, 'messages'::text, 'mail'::text, 'safari'::text, 'spotlight'::text, 'siri'::text, 'app'::text, 'app_library'::text, 'notification'::text, 'unknown'::text])))
);

ALTER TABLE ONLY doorstep.confirmations_default FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.confirmations_default OWNER TO doorstep_owner;

--
-- Name: console_events; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.console_events (
    event_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event text NOT NULL,
    name text NOT NULL,
    login text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT console_events_event_value CHECK ((event = ANY (ARRAY['link_made'::text, 'signed_in'::text, 'signed_out'::text, 'session_ended'::text, 'all_sessions_ended'::text, 'key_shown'::text]))),
    CONSTRAINT console_events_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128)))
);

ALTER TABLE doorstep.console_events OWNER TO doorstep_owner;

--
-- Name: console_events_event_id_seq; Type: SEQUENCE; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.console_events ALTER COLUMN event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME doorstep.console_events_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

--
-- Name: console_key; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.console_key (
    is_only boolean DEFAULT true NOT NULL,
    key bytea NOT NULL,
    CONSTRAINT console_key_is_only CHECK (is_only),
    CONSTRAINT console_key_length CHECK ((octet_length(key) = 32))
);

ALTER TABLE doorstep.console_key OWNER TO doorstep_owner;

--
-- Name: console_links; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.console_links (
    digest bytea NOT NULL,
    name text NOT NULL,
    limited_to uuid,
    read_only boolean NOT NULL,
    session_seconds integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT console_links_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT console_links_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128))),
    CONSTRAINT console_links_session_seconds_range CHECK (((session_seconds >= 60) AND (session_seconds <= 43200)))
);

ALTER TABLE doorstep.console_links OWNER TO doorstep_owner;

--
-- Name: console_sessions; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.console_sessions (
    session_id uuid DEFAULT gen_random_uuid() NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL,
    limited_to uuid,
    read_only boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT console_sessions_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT console_sessions_length CHECK ((expires_at <= (created_at + '12:00:00'::interval))),
    CONSTRAINT console_sessions_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128)))
);

ALTER TABLE doorstep.console_sessions OWNER TO doorstep_owner;

--
-- Name: deliveries; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.deliveries (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    notification_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    instance_id uuid,
    token_kind text NOT NULL COLLATE pg_catalog."C",
    token_name text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    attempt smallint DEFAULT 0 NOT NULL,
    lost_replies smallint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    finished_at timestamp with time zone,
    answers jsonb DEFAULT '[]'::jsonb NOT NULL,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    target text COLLATE pg_catalog."C",
    CONSTRAINT deliveries_attempted CHECK ((((state <> 'skipped'::text) OR (attempt = 0)) AND ((attempt > 0) OR (state = ANY (ARRAY['skipped'::text, 'queued'::text, 'expired'::text]))))),
    CONSTRAINT deliveries_due_until_final CHECK (((state = ANY (ARRAY['queued'::text, 'sending'::text])) = (due_at IS NOT NULL))),
    CONSTRAINT deliveries_environment CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT deliveries_finished_when_final CHECK (((state = ANY (ARRAY['queued'::text, 'sending'::text])) = (finished_at IS NULL))),
    CONSTRAINT deliveries_has_receiver CHECK (((token_kind = 'channel'::text) = (instance_id IS NULL))),
    CONSTRAINT deliveries_lost_replies_range CHECK (((lost_replies >= 0) AND (lost_replies <= attempt))),
    CONSTRAINT deliveries_reason_given CHECK (((state <> ALL (ARRAY['skipped'::text, 'refused'::text])) OR (reason IS NOT NULL))),
    CONSTRAINT deliveries_state CHECK ((state = ANY (ARRAY['skipped'::text, 'queued'::text, 'sending'::text, 'delivered'::text, 'refused'::text, 'uncertain'::text, 'expired'::text]))),
    CONSTRAINT deliveries_target_length CHECK (((octet_length(target) >= 1) AND (octet_length(target) <= 2048))),
    CONSTRAINT deliveries_token_kind CHECK ((token_kind = ANY (ARRAY['device'::text, 'start'::text, 'activity'::text, 'channel'::text])))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY doorstep.deliveries FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.deliveries OWNER TO doorstep_owner;

--
-- Name: domain_checks; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.domain_checks (
    tenant_id uuid NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone NOT NULL,
    began_at timestamp with time zone,
    contested_at timestamp with time zone
);

ALTER TABLE ONLY doorstep.domain_checks FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.domain_checks OWNER TO doorstep_owner;

--
-- Name: domains; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.domains (
    tenant_id uuid NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    challenge text NOT NULL,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    proved_at timestamp with time zone,
    method text COLLATE pg_catalog."C",
    checked_at timestamp with time zone,
    lapsed_at timestamp with time zone,
    content jsonb,
    pages text DEFAULT 'off'::text NOT NULL COLLATE pg_catalog."C",
    contested_at timestamp with time zone,
    CONSTRAINT domains_content_is_object CHECK ((jsonb_typeof(content) = 'object'::text)),
    CONSTRAINT domains_content_length CHECK ((octet_length((content)::text) <= 131072)),
    CONSTRAINT domains_host_form CHECK (((host ~ '^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$'::text) AND (length(host) <= 253))),
    CONSTRAINT domains_method CHECK ((method = ANY (ARRAY['dns'::text, 'file'::text]))),
    CONSTRAINT domains_pages CHECK ((pages = ANY (ARRAY['off'::text, 'on'::text, 'redirecting_short_codes'::text]))),
    CONSTRAINT domains_proof CHECK (((proved_at IS NULL) = (method IS NULL)))
);

ALTER TABLE ONLY doorstep.domains FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.domains OWNER TO doorstep_owner;

--
-- Name: event_recordings; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.event_recordings (
    tenant_id uuid NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    first_xid xid8 NOT NULL
);

ALTER TABLE ONLY doorstep.event_recordings FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.event_recordings OWNER TO doorstep_owner;

--
-- Name: events; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.events (
    tenant_id uuid NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    message_id uuid NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT events_type_length CHECK (((char_length(type) >= 1) AND (char_length(type) <= 64)))
);

ALTER TABLE ONLY doorstep.events FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.events OWNER TO doorstep_owner;

--
-- Name: experiences; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.experiences (
    tenant_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    location_identifier text COLLATE pg_catalog."C",
    identifier_rule text COLLATE pg_catalog."C",
    title text,
    subtitle text,
    card jsonb,
    card_image text COLLATE pg_catalog."C",
    CONSTRAINT experiences_identifier_rule_form CHECK ((identifier_rule ~ '^(path:[1-9][0-9]*|query:.+|hash:.+|coordinates:[^,]+,[^,]+(,[^,]+)?)$'::text)),
    CONSTRAINT experiences_kind CHECK ((kind = ANY (ARRAY['advanced'::text, 'default'::text, 'demo'::text]))),
    CONSTRAINT experiences_one_binding CHECK ((num_nonnulls(location_identifier, identifier_rule) <= 1)),
    CONSTRAINT experiences_subtitle_length CHECK (((char_length(subtitle) >= 1) AND (char_length(subtitle) <= 56))),
    CONSTRAINT experiences_title_length CHECK (((char_length(title) >= 1) AND (char_length(title) <= 30))),
    CONSTRAINT experiences_url_form CHECK ((starts_with(url, 'https://'::text) AND (octet_length(url) <= 2048)))
);

ALTER TABLE ONLY doorstep.experiences FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.experiences OWNER TO doorstep_owner;

--
-- Name: idempotency_keys; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.idempotency_keys (
    tenant_id uuid NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    request_digest bytea NOT NULL,
    notification_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    claim_id uuid,
    claimed_until timestamp with time zone,
    performed_at timestamp with time zone,
    sealed_response bytea,
    CONSTRAINT idempotency_keys_claim CHECK (((num_nonnulls(notification_id, claim_id) = 1) AND ((claimed_until IS NULL) = (claim_id IS NULL)) AND ((claim_id IS NOT NULL) OR (num_nonnulls(performed_at, sealed_response) = 0)))),
    CONSTRAINT idempotency_keys_digest_length CHECK ((octet_length(request_digest) = 32)),
    CONSTRAINT idempotency_keys_key_length CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 255))),
    CONSTRAINT idempotency_keys_sealed_response_length CHECK (((octet_length(sealed_response) >= 1) AND (octet_length(sealed_response) <= 262144)))
);

ALTER TABLE ONLY doorstep.idempotency_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.idempotency_keys OWNER TO doorstep_owner;

--
-- Name: instances; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.instances (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    permission text NOT NULL COLLATE pg_catalog."C",
    launched_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    attest_key_id bytea,
    CONSTRAINT instances_app CHECK ((app = ANY (ARRAY['clip'::text, 'full'::text]))),
    CONSTRAINT instances_environment CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT instances_permission CHECK ((permission = ANY (ARRAY['notDetermined'::text, 'denied'::text, 'authorized'::text, 'provisional'::text, 'ephemeral'::text])))
);

ALTER TABLE ONLY doorstep.instances FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.instances OWNER TO doorstep_owner;

--
-- Name: launch_days; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.launch_days (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    location_identifier text NOT NULL COLLATE pg_catalog."C",
    experience_url text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    lookups bigint NOT NULL,
    launch_reports bigint NOT NULL,
    CONSTRAINT launch_days_counts CHECK (((lookups >= 0) AND (launch_reports >= 0))),
    CONSTRAINT launch_days_day_is_finite CHECK (isfinite(day)),
    CONSTRAINT launch_days_experience_url_length CHECK (((octet_length(experience_url) >= 1) AND (octet_length(experience_url) <= 2048))),
    CONSTRAINT launch_days_location_length CHECK ((char_length(location_identifier) <= 128)),
    CONSTRAINT launch_days_source CHECK ((source = ANY (ARRAY['nfc'::text, 'app_clip_code'::text, 'qr_code'::text, 'maps'::text, 'messages'::text, 'mail'::text, 'safari'::text, 'spotlight'::text, 'siri'::text, 'app'::text, 'app_library'::text, 'notification'::text, 'unknown'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY doorstep.launch_days FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.launch_days OWNER TO doorstep_owner;

--
-- Name: launches; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.launches (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    experience_url text NOT NULL COLLATE pg_catalog."C",
    location_identifier text COLLATE pg_catalog."C",
    launched_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    present_since timestamp with time zone DEFAULT now() NOT NULL,
    known_since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT launches_confirmed_at_is_of_location CHECK (((confirmed_at IS NULL) OR (location_identifier IS NOT NULL))),
    CONSTRAINT launches_experience_url_length CHECK ((octet_length(experience_url) <= 2048)),
    CONSTRAINT launches_location_length CHECK (((char_length(location_identifier) >= 1) AND (char_length(location_identifier) <= 128))),
    CONSTRAINT launches_url_form CHECK ((starts_with(url, 'https://'::text) AND (octet_length(url) <= 2048)))
);

ALTER TABLE ONLY doorstep.launches FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.launches OWNER TO doorstep_owner;

--
-- Name: locations; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.locations (
    tenant_id uuid NOT NULL,
    identifier text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    radius double precision NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    details jsonb,
    card jsonb,
    card_image text COLLATE pg_catalog."C",
    CONSTRAINT locations_details_are_texts CHECK (((jsonb_typeof(details) = 'object'::text) AND (details <> '{}'::jsonb) AND (NOT jsonb_path_exists(details, 'strict $.*?(@.type() != "string" || @ == "")'::jsonpath, '{}'::jsonb, true)))),
    CONSTRAINT locations_details_length CHECK ((((octet_length((details)::text) + 1) - (2 * jsonb_array_length(jsonb_path_query_array(details, '$.*'::jsonpath)))) <= 4096)),
    CONSTRAINT locations_identifier_length CHECK (((char_length(identifier) >= 1) AND (char_length(identifier) <= 128))),
    CONSTRAINT locations_latitude_range CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision))),
    CONSTRAINT locations_longitude_range CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude <= (180)::double precision))),
    CONSTRAINT locations_metadata_is_object CHECK ((jsonb_typeof(metadata) = 'object'::text)),
    CONSTRAINT locations_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128))),
    CONSTRAINT locations_radius_range CHECK (((radius > (0)::double precision) AND (radius <= (500)::double precision)))
);

ALTER TABLE ONLY doorstep.locations FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.locations OWNER TO doorstep_owner;

--
-- Name: notifications; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.notifications (
    tenant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    notification_id uuid NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    experience_url text NOT NULL COLLATE pg_catalog."C",
    location_identifier text COLLATE pg_catalog."C",
    audience jsonb NOT NULL,
    push_type text NOT NULL COLLATE pg_catalog."C",
    priority smallint NOT NULL,
    collapse_id text COLLATE pg_catalog."C",
    expiration bigint,
    payload bytea NOT NULL,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    experience_kind text DEFAULT 'advanced'::text NOT NULL COLLATE pg_catalog."C",
    skipped jsonb DEFAULT '{}'::jsonb NOT NULL,
    trace_context text DEFAULT NULLIF(current_setting('doorstep.trace_context'::text, true), ''::text) COLLATE pg_catalog."C",
    cancelled_at timestamp with time zone,
    CONSTRAINT notifications_collapse_id_length CHECK (((octet_length(collapse_id) >= 1) AND (octet_length(collapse_id) <= 64))),
    CONSTRAINT notifications_experience_kind CHECK ((experience_kind = ANY (ARRAY['default'::text, 'advanced'::text, 'demo'::text]))),
    CONSTRAINT notifications_expiration_range CHECK ((expiration >= 0)),
    CONSTRAINT notifications_payload_length CHECK (((octet_length(payload) >= 1) AND (octet_length(payload) <= 5120))),
    CONSTRAINT notifications_priority CHECK ((priority = ANY (ARRAY[1, 5, 10]))),
    CONSTRAINT notifications_push_type CHECK ((push_type = ANY (ARRAY['alert'::text, 'liveactivity'::text]))),
    CONSTRAINT notifications_trace_context CHECK ((trace_context ~ '^[0-9a-f]{32}-[0-9a-f]{2}$'::text)),
    CONSTRAINT notifications_url_length CHECK ((octet_length(url) <= 2048))
)
PARTITION BY RANGE (created_at);

ALTER TABLE ONLY doorstep.notifications FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.notifications OWNER TO doorstep_owner;

--
-- Name: push_tokens; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.push_tokens (
    tenant_id uuid NOT NULL,
    instance_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    sealed bytea NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT push_tokens_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT push_tokens_kind CHECK ((kind = ANY (ARRAY['device'::text, 'start'::text, 'activity'::text]))),
    CONSTRAINT push_tokens_name CHECK ((((kind = 'device'::text) = (name = ''::text)) AND (char_length(name) <= 128))),
    CONSTRAINT push_tokens_sealed_length CHECK (((octet_length(sealed) >= 33) AND (octet_length(sealed) <= 512)))
);

ALTER TABLE ONLY doorstep.push_tokens FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.push_tokens OWNER TO doorstep_owner;

--
-- Name: quota_defaults; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.quota_defaults (
    kind text NOT NULL COLLATE pg_catalog."C",
    maximum_rows bigint,
    maximum_bytes bigint
);

ALTER TABLE doorstep.quota_defaults OWNER TO doorstep_owner;

--
-- Name: refused_requests; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.refused_requests (
    tenant_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    request_id text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    status smallint NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    key_id uuid NOT NULL,
    CONSTRAINT refused_requests_at_is_finite CHECK (isfinite(at)),
    CONSTRAINT refused_requests_code_length CHECK (((octet_length(code) >= 1) AND (octet_length(code) <= 64))),
    CONSTRAINT refused_requests_endpoint_length CHECK (((octet_length(endpoint) >= 1) AND (octet_length(endpoint) <= 256))),
    CONSTRAINT refused_requests_request_id_length CHECK (((octet_length(request_id) >= 1) AND (octet_length(request_id) <= 128))),
    CONSTRAINT refused_requests_status_range CHECK (((status >= 400) AND (status <= 599)))
);

ALTER TABLE ONLY doorstep.refused_requests FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.refused_requests OWNER TO doorstep_owner;

--
-- Name: revoked_attest_keys; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.revoked_attest_keys (
    tenant_id uuid NOT NULL,
    key_id bytea NOT NULL,
    revoked_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT revoked_attest_keys_key_id_length CHECK ((octet_length(key_id) = 32))
);

ALTER TABLE ONLY doorstep.revoked_attest_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.revoked_attest_keys OWNER TO doorstep_owner;

--
-- Name: row_counts; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.row_counts (
    tenant_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    counted_on date NOT NULL,
    shard smallint NOT NULL,
    row_count bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY doorstep.row_counts FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.row_counts OWNER TO doorstep_owner;

--
-- Name: schema_migrations; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.schema_migrations (
    version bigint NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    compatible_from bigint
);

ALTER TABLE doorstep.schema_migrations OWNER TO doorstep_owner;

--
-- Name: servers; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.servers (
    server_id uuid NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT servers_host_length CHECK ((char_length(host) <= 255)),
    CONSTRAINT servers_version_length CHECK ((char_length(version) <= 64))
);

ALTER TABLE doorstep.servers OWNER TO doorstep_owner;

--
-- Name: short_codes; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.short_codes (
    tenant_id uuid NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT short_codes_code_length CHECK (((char_length(code) >= 1) AND (char_length(code) <= 128))),
    CONSTRAINT short_codes_url_form CHECK ((starts_with(url, 'https://'::text) AND (octet_length(url) <= 2048)))
);

ALTER TABLE ONLY doorstep.short_codes FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.short_codes OWNER TO doorstep_owner;

--
-- Name: tenant_usage; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.tenant_usage (
    tenant_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    row_count bigint DEFAULT 0 NOT NULL,
    byte_count bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY doorstep.tenant_usage FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.tenant_usage OWNER TO doorstep_owner;

--
-- Name: tenants; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.tenants (
    tenant_id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    suspended_at timestamp with time zone,
    key_rate integer,
    key_burst integer,
    client_rate integer,
    client_burst integer,
    collapse_policy text DEFAULT 'none'::text NOT NULL COLLATE pg_catalog."C",
    new_instance_rate integer,
    new_instance_burst integer,
    client_new_instance_rate integer,
    client_new_instance_burst integer,
    quotas jsonb DEFAULT '{}'::jsonb NOT NULL,
    cors_origins text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    is_test boolean DEFAULT false NOT NULL,
    CONSTRAINT tenants_client_limit_is_whole CHECK ((num_nonnulls(client_rate, client_burst) <> 1)),
    CONSTRAINT tenants_client_limit_range CHECK ((((client_rate >= 1) AND (client_rate <= 1000000)) AND ((client_burst >= 1) AND (client_burst <= 1000000)))),
    CONSTRAINT tenants_client_new_instance_limit_is_whole CHECK ((num_nonnulls(client_new_instance_rate, client_new_instance_burst) <> 1)),
    CONSTRAINT tenants_client_new_instance_limit_range CHECK ((((client_new_instance_rate >= 1) AND (client_new_instance_rate <= 1000000)) AND ((client_new_instance_burst >= 1) AND (client_new_instance_burst <= 1000000)))),
    CONSTRAINT tenants_collapse_policy CHECK ((collapse_policy = ANY (ARRAY['none'::text, 'business'::text, 'url'::text]))),
    CONSTRAINT tenants_cors_origins CHECK (((cardinality(cors_origins) <= 16) AND (octet_length(array_to_string(cors_origins, ' '::text, '*'::text)) <= 4095) AND (array_to_string(cors_origins, ' '::text, '*'::text) ~ '^(https?://[a-z0-9.:-]+( https?://[a-z0-9.:-]+)*)?$'::text))),
    CONSTRAINT tenants_key_limit_is_whole CHECK ((num_nonnulls(key_rate, key_burst) <> 1)),
    CONSTRAINT tenants_key_limit_range CHECK ((((key_rate >= 1) AND (key_rate <= 1000000)) AND ((key_burst >= 1) AND (key_burst <= 1000000)))),
    CONSTRAINT tenants_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128))),
    CONSTRAINT tenants_new_instance_limit_is_whole CHECK ((num_nonnulls(new_instance_rate, new_instance_burst) <> 1)),
    CONSTRAINT tenants_new_instance_limit_range CHECK ((((new_instance_rate >= 1) AND (new_instance_rate <= 1000000)) AND ((new_instance_burst >= 1) AND (new_instance_burst <= 1000000)))),
    CONSTRAINT tenants_quotas_is_object CHECK ((jsonb_typeof(quotas) = 'object'::text)),
    CONSTRAINT tenants_slug_form CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text))
);

ALTER TABLE ONLY doorstep.tenants FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.tenants OWNER TO doorstep_owner;

--
-- Name: token_secrets; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.token_secrets (
    secret_id bytea NOT NULL,
    first_used_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT token_secrets_secret_id_length CHECK ((octet_length(secret_id) = 4))
);

ALTER TABLE doorstep.token_secrets OWNER TO doorstep_owner;

--
-- Name: usage_settlements; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.usage_settlements (
    settlement_id bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL
);

ALTER TABLE doorstep.usage_settlements OWNER TO doorstep_owner;

--
-- Name: webhook_messages; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.webhook_messages (
    tenant_id uuid NOT NULL,
    message_id uuid NOT NULL,
    body bytea NOT NULL,
    due_at timestamp with time zone,
    attempt smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    webhook_id uuid NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'waiting'::text NOT NULL COLLATE pg_catalog."C",
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    trace_context text DEFAULT NULLIF(current_setting('doorstep.trace_context'::text, true), ''::text) COLLATE pg_catalog."C",
    CONSTRAINT webhook_messages_attempts_are_a_list CHECK ((jsonb_typeof(attempts) = 'array'::text)),
    CONSTRAINT webhook_messages_due CHECK (((due_at IS NOT NULL) = (state = 'waiting'::text))),
    CONSTRAINT webhook_messages_state CHECK ((state = ANY (ARRAY['waiting'::text, 'taken'::text, 'given_up'::text]))),
    CONSTRAINT webhook_messages_trace_context CHECK ((trace_context ~ '^[0-9a-f]{32}-[0-9a-f]{2}$'::text)),
    CONSTRAINT webhook_messages_type_length CHECK (((char_length(type) >= 1) AND (char_length(type) <= 64)))
);

ALTER TABLE ONLY doorstep.webhook_messages FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.webhook_messages OWNER TO doorstep_owner;

--
-- Name: webhook_responses; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.webhook_responses (
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    number bigint NOT NULL,
    message_id uuid NOT NULL,
    at text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    CONSTRAINT webhook_responses_at_length CHECK (((octet_length(at) >= 20) AND (octet_length(at) <= 32))),
    CONSTRAINT webhook_responses_body_length CHECK (((octet_length(body) >= 1) AND (octet_length(body) <= 4096)))
);

ALTER TABLE ONLY doorstep.webhook_responses FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.webhook_responses OWNER TO doorstep_owner;

--
-- Name: webhooks; Type: TABLE; Schema: doorstep; Owner: doorstep_owner
--

CREATE TABLE doorstep.webhooks (
    tenant_id uuid NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    sealed_secret bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    secret_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    webhook_id uuid NOT NULL,
    events text[] NOT NULL COLLATE pg_catalog."C",
    failing_since timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text,
    previous_sealed_secret bytea,
    previous_secret_ends_at timestamp with time zone,
    name text,
    CONSTRAINT webhooks_disabled_reason CHECK ((((disabled_at IS NULL) = (disabled_reason IS NULL)) AND ((char_length(disabled_reason) >= 1) AND (char_length(disabled_reason) <= 200)))),
    CONSTRAINT webhooks_events CHECK (((cardinality(events) > 0) AND (events <@ ARRAY['delivery.finished'::text, 'location.changed'::text, 'experience.changed'::text, 'domain.proved'::text, 'domain.contested'::text, 'domain.lapsed'::text, 'domain.withdrawn'::text, 'key.revoked'::text, 'confirmation.recorded'::text, 'webhook.disabled'::text, 'appstore.drift'::text]))),
    CONSTRAINT webhooks_name_characters CHECK ((name !~ '[\u0001-\u001F\u007F-\u009F]'::text)),
    CONSTRAINT webhooks_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128))),
    CONSTRAINT webhooks_previous_sealed_secret_length CHECK (((octet_length(previous_sealed_secret) >= 33) AND (octet_length(previous_sealed_secret) <= 512))),
    CONSTRAINT webhooks_previous_secret_ends CHECK (((previous_sealed_secret IS NULL) OR (previous_secret_ends_at IS NOT NULL))),
    CONSTRAINT webhooks_sealed_secret_length CHECK (((octet_length(sealed_secret) >= 33) AND (octet_length(sealed_secret) <= 512))),
    CONSTRAINT webhooks_url_length CHECK (((octet_length(url) >= 8) AND (octet_length(url) <= 2048)))
);

ALTER TABLE ONLY doorstep.webhooks FORCE ROW LEVEL SECURITY;

ALTER TABLE doorstep.webhooks OWNER TO doorstep_owner;

--
-- Name: confirmations_default; Type: TABLE ATTACH; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.confirmations ATTACH PARTITION doorstep.confirmations_default DEFAULT;

--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, key_id);

--
-- Name: app_store_budget app_store_budget_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_budget
    ADD CONSTRAINT app_store_budget_pkey PRIMARY KEY (tenant_id, key_id, minute);

--
-- Name: app_store_check_rows app_store_check_rows_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_check_rows
    ADD CONSTRAINT app_store_check_rows_pkey PRIMARY KEY (tenant_id, bundle_id, url);

--
-- Name: app_store_checks app_store_checks_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_checks
    ADD CONSTRAINT app_store_checks_pkey PRIMARY KEY (tenant_id, bundle_id);

--
-- Name: app_store_connections app_store_connections_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_connections
    ADD CONSTRAINT app_store_connections_pkey PRIMARY KEY (tenant_id, bundle_id);

--
-- Name: app_store_experiences app_store_experiences_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_experiences
    ADD CONSTRAINT app_store_experiences_pkey PRIMARY KEY (tenant_id, bundle_id, url);

--
-- Name: app_store_images app_store_images_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_images
    ADD CONSTRAINT app_store_images_pkey PRIMARY KEY (tenant_id, bundle_id, sha256, holder);

--
-- Name: app_store_refusals app_store_refusals_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_refusals
    ADD CONSTRAINT app_store_refusals_pkey PRIMARY KEY (tenant_id, bundle_id, url);

--
-- Name: app_store_removals app_store_removals_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_removals
    ADD CONSTRAINT app_store_removals_pkey PRIMARY KEY (tenant_id, bundle_id, remote_id);

--
-- Name: app_store_runs app_store_runs_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_runs
    ADD CONSTRAINT app_store_runs_pkey PRIMARY KEY (tenant_id, run_id);

--
-- Name: attest_keys attest_keys_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.attest_keys
    ADD CONSTRAINT attest_keys_pkey PRIMARY KEY (tenant_id, key_id);

--
-- Name: attestation_days attestation_days_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.attestation_days
    ADD CONSTRAINT attestation_days_pkey PRIMARY KEY (tenant_id, bundle_id, operation, day);

--
-- Name: audience_cursors audience_cursors_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.audience_cursors
    ADD CONSTRAINT audience_cursors_pkey PRIMARY KEY (tenant_id, notification_id);

--
-- Name: audit_log audit_log_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (tenant_id, entry_id);

--
-- Name: card_image_bytes card_image_bytes_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.card_image_bytes
    ADD CONSTRAINT card_image_bytes_pkey PRIMARY KEY (tenant_id, sha256);

--
-- Name: card_images card_images_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.card_images
    ADD CONSTRAINT card_images_pkey PRIMARY KEY (tenant_id, sha256);

--
-- Name: change_horizon change_horizon_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.change_horizon
    ADD CONSTRAINT change_horizon_pkey PRIMARY KEY (is_only);

--
-- Name: changes changes_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (tenant_id, change_id);

--
-- Name: channels channels_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (tenant_id, bundle_id, environment, channel_id);

--
-- Name: clips clips_card_is_object; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.clips
    ADD CONSTRAINT clips_card_is_object CHECK (((jsonb_typeof(card) = 'object'::text) AND (card <> '{}'::jsonb) AND (NOT (card ? 'image'::text)))) NOT VALID;

--
-- Name: clips clips_card_length; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.clips
    ADD CONSTRAINT clips_card_length CHECK ((octet_length((card)::text) <= 65536)) NOT VALID;

--
-- Name: clips clips_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.clips
    ADD CONSTRAINT clips_pkey PRIMARY KEY (tenant_id, bundle_id);

--
-- Name: confirmations confirmations_attestation; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.confirmations
    ADD CONSTRAINT confirmations_attestation CHECK (((attestation >= 0) AND (attestation <= 2))) NOT VALID;

--
-- Name: confirmations confirmations_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.confirmations
    ADD CONSTRAINT confirmations_pkey PRIMARY KEY (tenant_id, minute, confirmation_id);

--
-- Name: confirmations_default confirmations_default_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.confirmations_default
    ADD CONSTRAINT confirmations_default_pkey PRIMARY KEY (tenant_id, minute, confirmation_id);

--
-- Name: console_events console_events_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.console_events
    ADD CONSTRAINT console_events_pkey PRIMARY KEY (event_id);

--
-- Name: console_key console_key_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.console_key
    ADD CONSTRAINT console_key_pkey PRIMARY KEY (is_only);

--
-- Name: console_links console_links_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.console_links
    ADD CONSTRAINT console_links_pkey PRIMARY KEY (digest);

--
-- Name: console_sessions console_sessions_digest_key; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.console_sessions
    ADD CONSTRAINT console_sessions_digest_key UNIQUE (digest);

--
-- Name: console_sessions console_sessions_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.console_sessions
    ADD CONSTRAINT console_sessions_pkey PRIMARY KEY (session_id);

--
-- Name: deliveries deliveries_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (delivery_id, tenant_id, created_at);

--
-- Name: domain_checks domain_checks_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.domain_checks
    ADD CONSTRAINT domain_checks_pkey PRIMARY KEY (tenant_id, host);

--
-- Name: domains domains_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.domains
    ADD CONSTRAINT domains_pkey PRIMARY KEY (tenant_id, host);

--
-- Name: event_recordings event_recordings_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.event_recordings
    ADD CONSTRAINT event_recordings_pkey PRIMARY KEY (tenant_id);

--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (tenant_id, xid, message_id);

--
-- Name: experiences experiences_card_is_object; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.experiences
    ADD CONSTRAINT experiences_card_is_object CHECK (((jsonb_typeof(card) = 'object'::text) AND (card <> '{}'::jsonb) AND (NOT (card ? 'image'::text)))) NOT VALID;

--
-- Name: experiences experiences_card_length; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.experiences
    ADD CONSTRAINT experiences_card_length CHECK ((octet_length((card)::text) <= 65536)) NOT VALID;

--
-- Name: experiences experiences_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.experiences
    ADD CONSTRAINT experiences_pkey PRIMARY KEY (tenant_id, kind, url);

--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key);

--
-- Name: instances instances_attest_key_id_length; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.instances
    ADD CONSTRAINT instances_attest_key_id_length CHECK ((octet_length(attest_key_id) = 32)) NOT VALID;

--
-- Name: instances instances_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (tenant_id, instance_id);

--
-- Name: launch_days launch_days_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.launch_days
    ADD CONSTRAINT launch_days_pkey PRIMARY KEY (tenant_id, day, location_identifier, experience_url, source);

--
-- Name: launches launches_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.launches
    ADD CONSTRAINT launches_pkey PRIMARY KEY (tenant_id, instance_id, url);

--
-- Name: locations locations_card_is_object; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.locations
    ADD CONSTRAINT locations_card_is_object CHECK (((jsonb_typeof(card) = 'object'::text) AND (card <> '{}'::jsonb) AND (NOT (card ? 'image'::text)))) NOT VALID;

--
-- Name: locations locations_card_length; Type: CHECK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.locations
    ADD CONSTRAINT locations_card_length CHECK ((octet_length((card)::text) <= 65536)) NOT VALID;

--
-- Name: locations locations_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.locations
    ADD CONSTRAINT locations_pkey PRIMARY KEY (tenant_id, identifier);

--
-- Name: notifications notifications_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (notification_id, tenant_id, created_at);

--
-- Name: push_tokens push_tokens_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.push_tokens
    ADD CONSTRAINT push_tokens_pkey PRIMARY KEY (tenant_id, instance_id, kind, name);

--
-- Name: quota_defaults quota_defaults_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.quota_defaults
    ADD CONSTRAINT quota_defaults_pkey PRIMARY KEY (kind);

--
-- Name: refused_requests refused_requests_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.refused_requests
    ADD CONSTRAINT refused_requests_pkey PRIMARY KEY (tenant_id, entry_id);

--
-- Name: revoked_attest_keys revoked_attest_keys_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.revoked_attest_keys
    ADD CONSTRAINT revoked_attest_keys_pkey PRIMARY KEY (tenant_id, key_id);

--
-- Name: row_counts row_counts_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.row_counts
    ADD CONSTRAINT row_counts_pkey PRIMARY KEY (tenant_id, kind, counted_on, shard);

--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

--
-- Name: servers servers_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.servers
    ADD CONSTRAINT servers_pkey PRIMARY KEY (server_id);

--
-- Name: short_codes short_codes_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.short_codes
    ADD CONSTRAINT short_codes_pkey PRIMARY KEY (tenant_id, code);

--
-- Name: tenant_usage tenant_usage_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.tenant_usage
    ADD CONSTRAINT tenant_usage_pkey PRIMARY KEY (tenant_id, kind);

--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

--
-- Name: tenants tenants_slug_key; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.tenants
    ADD CONSTRAINT tenants_slug_key UNIQUE (slug);

--
-- Name: token_secrets token_secrets_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.token_secrets
    ADD CONSTRAINT token_secrets_pkey PRIMARY KEY (secret_id);

--
-- Name: usage_settlements usage_settlements_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.usage_settlements
    ADD CONSTRAINT usage_settlements_pkey PRIMARY KEY (settlement_id);

--
-- Name: webhook_messages webhook_messages_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhook_messages
    ADD CONSTRAINT webhook_messages_pkey PRIMARY KEY (tenant_id, webhook_id, message_id);

--
-- Name: webhook_responses webhook_responses_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhook_responses
    ADD CONSTRAINT webhook_responses_pkey PRIMARY KEY (tenant_id, webhook_id, number);

--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, webhook_id);

--
-- Name: api_keys_digest; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX api_keys_digest ON doorstep.api_keys USING btree (digest);

--
-- Name: api_keys_revoked_at; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX api_keys_revoked_at ON doorstep.api_keys USING btree (tenant_id, revoked_at) WHERE (revoked_at IS NOT NULL);

--
-- Name: app_store_runs_clip; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX app_store_runs_clip ON doorstep.app_store_runs USING btree (tenant_id, bundle_id, started_at);

--
-- Name: attest_keys_clip; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX attest_keys_clip ON doorstep.attest_keys USING btree (tenant_id, bundle_id) WHERE (bundle_id <> ''::text);

--
-- Name: attest_keys_last_used_on; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX attest_keys_last_used_on ON doorstep.attest_keys USING btree (tenant_id, last_used_on) WHERE (last_used_on IS NOT NULL);

--
-- Name: attestation_days_day; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX attestation_days_day ON doorstep.attestation_days USING btree (tenant_id, day) WHERE (day IS NOT NULL);

--
-- Name: audit_log_at; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX audit_log_at ON doorstep.audit_log USING btree (at);

--
-- Name: audit_log_counted; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX audit_log_counted ON doorstep.audit_log USING btree (tenant_id, entry_id) WHERE (byte_count IS NOT NULL);

--
-- Name: changes_xid; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX changes_xid ON doorstep.changes USING btree (xid);

--
-- Name: clips_card_image; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX clips_card_image ON doorstep.clips USING btree (tenant_id, card_image) WHERE (card_image IS NOT NULL);

--
-- Name: deliveries_dead_letters; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX deliveries_dead_letters ON ONLY doorstep.deliveries USING btree (tenant_id, created_at) WHERE (state = ANY (ARRAY['refused'::text, 'uncertain'::text, 'expired'::text]));

--
-- Name: deliveries_due; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX deliveries_due ON ONLY doorstep.deliveries USING btree (tenant_id, due_at) WHERE (due_at IS NOT NULL);

--
-- Name: deliveries_tenant; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX deliveries_tenant ON ONLY doorstep.deliveries USING btree (tenant_id, instance_id) WHERE (token_kind <> ''::text);

--
-- Name: domains_proved_host; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE UNIQUE INDEX domains_proved_host ON doorstep.domains USING btree (host) WHERE (proved_at IS NOT NULL);

--
-- Name: experiences_card_image; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX experiences_card_image ON doorstep.experiences USING btree (tenant_id, card_image) WHERE (card_image IS NOT NULL);

--
-- Name: experiences_clip; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX experiences_clip ON doorstep.experiences USING btree (tenant_id, bundle_id);

--
-- Name: experiences_location; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX experiences_location ON doorstep.experiences USING btree (tenant_id, location_identifier);

--
-- Name: experiences_one_default_per_clip; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE UNIQUE INDEX experiences_one_default_per_clip ON doorstep.experiences USING btree (tenant_id, bundle_id) WHERE (kind = 'default'::text);

--
-- Name: idempotency_keys_claims; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX idempotency_keys_claims ON doorstep.idempotency_keys USING btree (tenant_id) WHERE (claim_id IS NOT NULL);

--
-- Name: idempotency_keys_created_at; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX idempotency_keys_created_at ON doorstep.idempotency_keys USING btree (tenant_id, created_at);

--
-- Name: instances_attest_key; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX instances_attest_key ON doorstep.instances USING btree (tenant_id, attest_key_id) WHERE (attest_key_id IS NOT NULL);

--
-- Name: instances_launched_at; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX instances_launched_at ON doorstep.instances USING btree (tenant_id, launched_at) WHERE (launched_at IS NOT NULL);

--
-- Name: launches_experience; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX launches_experience ON doorstep.launches USING btree (tenant_id, experience_url, launched_at, instance_id) WHERE (experience_url IS NOT NULL);

--
-- Name: launches_location; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX launches_location ON doorstep.launches USING btree (tenant_id, location_identifier, launched_at, instance_id) WHERE (location_identifier IS NOT NULL);

--
-- Name: launches_url; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX launches_url ON doorstep.launches USING btree (tenant_id, url, instance_id) WHERE (url IS NOT NULL);

--
-- Name: locations_card_image; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX locations_card_image ON doorstep.locations USING btree (tenant_id, card_image) WHERE (card_image IS NOT NULL);

--
-- Name: notifications_location; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX notifications_location ON ONLY doorstep.notifications USING btree (tenant_id, location_identifier, created_at, notification_id) WHERE ((push_type <> ''::text) AND (location_identifier IS NOT NULL));

--
-- Name: notifications_newest; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX notifications_newest ON ONLY doorstep.notifications USING btree (tenant_id, created_at, notification_id) WHERE (push_type <> ''::text);

--
-- Name: push_tokens_activity; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX push_tokens_activity ON doorstep.push_tokens USING btree (tenant_id, registered_at) WHERE ((kind = 'activity'::text) AND (registered_at IS NOT NULL));

--
-- Name: push_tokens_digest; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX push_tokens_digest ON doorstep.push_tokens USING btree (tenant_id, digest) WHERE (digest <> '\x'::bytea);

--
-- Name: webhook_messages_age; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX webhook_messages_age ON doorstep.webhook_messages USING btree (tenant_id, created_at);

--
-- Name: webhook_messages_due; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX webhook_messages_due ON doorstep.webhook_messages USING btree (tenant_id, webhook_id, due_at) WHERE (due_at IS NOT NULL);

--
-- Name: webhook_responses_message; Type: INDEX; Schema: doorstep; Owner: doorstep_owner
--

CREATE INDEX webhook_responses_message ON doorstep.webhook_responses USING btree (tenant_id, webhook_id, message_id);

--
-- Name: confirmations_default_pkey; Type: INDEX ATTACH; Schema: doorstep; Owner: doorstep_owner
--

ALTER INDEX doorstep.confirmations_pkey ATTACH PARTITION doorstep.confirmations_default_pkey;

--
-- Name: tenants begin_usage; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER begin_usage AFTER INSERT ON doorstep.tenants FOR EACH ROW EXECUTE FUNCTION doorstep.begin_usage();

--
-- Name: api_keys check_keys_of_test_tenants; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER check_keys_of_test_tenants AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.check_keys_of_test_tenants();

--
-- Name: instances count_rows_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_rows_delete AFTER DELETE ON doorstep.instances REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();

--
-- Name: deliveries count_rows_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_rows_insert AFTER INSERT ON doorstep.deliveries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();

--
-- Name: instances count_rows_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_rows_insert AFTER INSERT ON doorstep.instances REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();

--
-- Name: api_keys count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END', 'revoked_at IS NULL');

--
-- Name: card_images count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.card_images REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('images', 'byte_count', 'true');

--
-- Name: channels count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.channels REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('channels', 'octet_length(concat(bundle_id, environment, channel_id))', 'true');

--
-- Name: clips count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.clips REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('clips', 'octet_length(concat(bundle_id, parent_bundle_id, team_id, app_id_prefix, attestation, app_store_id, android_url, site_name, card, card_image))', 'true');

--
-- Name: domains count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.domains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('domains', 'octet_length(concat(host, content))', 'true');

--
-- Name: experiences count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('experiences', 'octet_length(concat(kind, url, bundle_id, location_identifier, identifier_rule, title, subtitle, card, card_image))', 'true');

--
-- Name: locations count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.locations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('locations', 'octet_length(concat(identifier, name, metadata, details, card, card_image))', 'true');

--
-- Name: short_codes count_usage_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('short_codes', 'octet_length(concat(code, url))', 'true');

--
-- Name: api_keys count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END', 'revoked_at IS NULL');

--
-- Name: card_images count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.card_images REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('images', 'byte_count', 'true');

--
-- Name: channels count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.channels REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('channels', 'octet_length(concat(bundle_id, environment, channel_id))', 'true');

--
-- Name: clips count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.clips REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('clips', 'octet_length(concat(bundle_id, parent_bundle_id, team_id, app_id_prefix, attestation, app_store_id, android_url, site_name, card, card_image))', 'true');

--
-- Name: domains count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('domains', 'octet_length(concat(host, content))', 'true');

--
-- Name: experiences count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.experiences REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('experiences', 'octet_length(concat(kind, url, bundle_id, location_identifier, identifier_rule, title, subtitle, card, card_image))', 'true');

--
-- Name: locations count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.locations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('locations', 'octet_length(concat(identifier, name, metadata, details, card, card_image))', 'true');

--
-- Name: short_codes count_usage_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.short_codes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('short_codes', 'octet_length(concat(code, url))', 'true');

--
-- Name: api_keys count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END', 'revoked_at IS NULL');

--
-- Name: card_images count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.card_images REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('images', 'byte_count', 'true');

--
-- Name: channels count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.channels REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('channels', 'octet_length(concat(bundle_id, environment, channel_id))', 'true');

--
-- Name: clips count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.clips REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('clips', 'octet_length(concat(bundle_id, parent_bundle_id, team_id, app_id_prefix, attestation, app_store_id, android_url, site_name, card, card_image))', 'true');

--
-- Name: domains count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('domains', 'octet_length(concat(host, content))', 'true');

--
-- Name: experiences count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('experiences', 'octet_length(concat(kind, url, bundle_id, location_identifier, identifier_rule, title, subtitle, card, card_image))', 'true');

--
-- Name: locations count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.locations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('locations', 'octet_length(concat(identifier, name, metadata, details, card, card_image))', 'true');

--
-- Name: short_codes count_usage_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage('short_codes', 'octet_length(concat(code, url))', 'true');

--
-- Name: tenants delete_confirmations; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER delete_confirmations AFTER DELETE ON doorstep.tenants FOR EACH ROW EXECUTE FUNCTION doorstep.delete_confirmations_of_tenant();

--
-- Name: tenants delete_notifications; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER delete_notifications AFTER DELETE ON doorstep.tenants FOR EACH ROW EXECUTE FUNCTION doorstep.delete_notifications_of_tenant();

--
-- Name: app_store_connections note_token_secret; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed_secret ON doorstep.app_store_connections FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();

--
-- Name: push_tokens note_token_secret; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed ON doorstep.push_tokens FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();

--
-- Name: webhooks note_token_secret; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed_secret ON doorstep.webhooks FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();

--
-- Name: api_keys record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: app_store_connections record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.app_store_connections REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: card_images record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.card_images REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: clips record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.clips REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: domains record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.domains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: experiences record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: locations record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.locations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: revoked_attest_keys record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.revoked_attest_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: short_codes record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: tenants record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.tenants REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: webhooks record_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_delete AFTER DELETE ON doorstep.webhooks REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: api_keys record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: app_store_connections record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.app_store_connections REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: card_images record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.card_images REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: clips record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.clips REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: domains record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: experiences record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.experiences REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: locations record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.locations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: revoked_attest_keys record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.revoked_attest_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: short_codes record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.short_codes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: tenants record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.tenants REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: webhooks record_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.webhooks REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();

--
-- Name: api_keys record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');

--
-- Name: clips record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.clips REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('bundle_id');

--
-- Name: domains record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.domains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host');

--
-- Name: experiences record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('kind, url');

--
-- Name: locations record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.locations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('identifier');

--
-- Name: revoked_attest_keys record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.revoked_attest_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');

--
-- Name: short_codes record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('code');

--
-- Name: tenants record_routing_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_delete AFTER DELETE ON doorstep.tenants REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('');

--
-- Name: api_keys record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');

--
-- Name: clips record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.clips REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('bundle_id');

--
-- Name: domains record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host');

--
-- Name: experiences record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.experiences REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('kind, url');

--
-- Name: locations record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.locations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('identifier');

--
-- Name: revoked_attest_keys record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.revoked_attest_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');

--
-- Name: short_codes record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.short_codes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('code');

--
-- Name: tenants record_routing_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_insert AFTER INSERT ON doorstep.tenants REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('');

--
-- Name: api_keys record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id', 'digest, expires_at, revoked_at');

--
-- Name: clips record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.clips REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('bundle_id', 'parent_bundle_id, team_id, app_id_prefix, multi_business, attestation, app_store_id, android_url, site_name, card, card_image');

--
-- Name: domains record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host', 'proved_at, content, pages');

--
-- Name: experiences record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('kind, url', 'bundle_id, location_identifier, identifier_rule, title, subtitle, card, card_image');

--
-- Name: locations record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.locations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('identifier', 'name, latitude, longitude, radius, details, card, card_image');

--
-- Name: revoked_attest_keys record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.revoked_attest_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('key_id');

--
-- Name: short_codes record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('code', 'url');

--
-- Name: tenants record_routing_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.tenants REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('', 'name, suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst, cors_origins');

--
-- Name: api_keys record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, key_id');

--
-- Name: app_store_connections record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.app_store_connections REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, bundle_id');

--
-- Name: clips record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.clips REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, bundle_id');

--
-- Name: domains record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, host');

--
-- Name: experiences record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, kind, url');

--
-- Name: locations record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.locations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, identifier');

--
-- Name: short_codes record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.short_codes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, code');

--
-- Name: tenants record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.tenants REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id');

--
-- Name: webhooks record_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER record_update AFTER UPDATE ON doorstep.webhooks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, webhook_id');

--
-- Name: launches renew_presence; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER renew_presence BEFORE UPDATE ON doorstep.launches FOR EACH ROW WHEN (((new.launched_at >= (old.launched_at + '08:00:00'::interval)) OR (new.experience_url <> old.experience_url) OR (new.location_identifier IS DISTINCT FROM old.location_identifier))) EXECUTE FUNCTION doorstep.renew_presence();

--
-- Name: confirmations require_tenant; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.confirmations FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_confirmed_tenant();

--
-- Name: deliveries require_tenant; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.deliveries FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_notifying_tenant();

--
-- Name: notifications require_tenant; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.notifications FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_notifying_tenant();

--
-- Name: usage_settlements settle_usage; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE CONSTRAINT TRIGGER settle_usage AFTER INSERT ON doorstep.usage_settlements DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION doorstep.settle_usage();

--
-- Name: domains tell_webhooks_contested; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_contested AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('domain.contested', 'domains', 'tenant_id, host', 'n.host', 'o.contested_at IS NULL AND n.contested_at IS NOT NULL');

--
-- Name: experiences tell_webhooks_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_delete AFTER DELETE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('experience.changed', 'experiences', 'tenant_id, kind, url', 'jsonb_build_object(''kind'', n.kind, ''url'', n.url)', 'true');

--
-- Name: locations tell_webhooks_delete; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_delete AFTER DELETE ON doorstep.locations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('location.changed', 'locations', 'tenant_id, identifier', 'n.identifier', 'true');

--
-- Name: experiences tell_webhooks_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_insert AFTER INSERT ON doorstep.experiences REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('experience.changed', 'experiences', 'tenant_id, kind, url', 'jsonb_build_object(''kind'', n.kind, ''url'', n.url)', 'true');

--
-- Name: locations tell_webhooks_insert; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_insert AFTER INSERT ON doorstep.locations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('location.changed', 'locations', 'tenant_id, identifier', 'n.identifier', 'true');

--
-- Name: domains tell_webhooks_proved; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_proved AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('domain.proved', 'domains', 'tenant_id, host', 'n.host', 'o.proved_at IS NULL AND n.proved_at IS NOT NULL');

--
-- Name: api_keys tell_webhooks_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_update AFTER UPDATE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('key.revoked', 'keys', 'tenant_id, key_id', 'n.key_id', 'o.revoked_at IS NULL AND n.revoked_at IS NOT NULL');

--
-- Name: domains tell_webhooks_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_update AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('domain.lapsed', 'domains', 'tenant_id, host', 'n.host', 'o.lapsed_at IS NULL AND n.lapsed_at IS NOT NULL');

--
-- Name: experiences tell_webhooks_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_update AFTER UPDATE ON doorstep.experiences REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('experience.changed', 'experiences', 'tenant_id, kind, url', 'jsonb_build_object(''kind'', n.kind, ''url'', n.url)', 'true');

--
-- Name: locations tell_webhooks_update; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_update AFTER UPDATE ON doorstep.locations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('location.changed', 'locations', 'tenant_id, identifier', 'n.identifier', 'true');

--
-- Name: domains tell_webhooks_withdrawn; Type: TRIGGER; Schema: doorstep; Owner: doorstep_owner
--

CREATE TRIGGER tell_webhooks_withdrawn AFTER UPDATE ON doorstep.domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell_webhooks('domain.withdrawn', 'domains', 'tenant_id, host', 'n.host', 'o.proved_at IS NOT NULL AND n.proved_at IS NULL');

--
-- Name: api_keys api_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_budget app_store_budget_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_budget
    ADD CONSTRAINT app_store_budget_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_check_rows app_store_check_rows_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_check_rows
    ADD CONSTRAINT app_store_check_rows_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.app_store_checks(tenant_id, bundle_id) ON DELETE CASCADE;

--
-- Name: app_store_checks app_store_checks_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_checks
    ADD CONSTRAINT app_store_checks_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.app_store_connections(tenant_id, bundle_id) ON DELETE CASCADE;

--
-- Name: app_store_connections app_store_connections_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_connections
    ADD CONSTRAINT app_store_connections_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id) ON DELETE CASCADE;

--
-- Name: app_store_experiences app_store_experiences_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_experiences
    ADD CONSTRAINT app_store_experiences_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_images app_store_images_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_images
    ADD CONSTRAINT app_store_images_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_refusals app_store_refusals_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_refusals
    ADD CONSTRAINT app_store_refusals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_removals app_store_removals_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_removals
    ADD CONSTRAINT app_store_removals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: app_store_runs app_store_runs_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.app_store_runs
    ADD CONSTRAINT app_store_runs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: attest_keys attest_keys_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.attest_keys
    ADD CONSTRAINT attest_keys_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id) ON DELETE CASCADE;

--
-- Name: attest_keys attest_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.attest_keys
    ADD CONSTRAINT attest_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: attestation_days attestation_days_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.attestation_days
    ADD CONSTRAINT attestation_days_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id) ON DELETE CASCADE;

--
-- Name: audience_cursors audience_cursors_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.audience_cursors
    ADD CONSTRAINT audience_cursors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: card_image_bytes card_image_bytes_tenant_id_sha256_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.card_image_bytes
    ADD CONSTRAINT card_image_bytes_tenant_id_sha256_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES doorstep.card_images(tenant_id, sha256) ON DELETE CASCADE;

--
-- Name: card_images card_images_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.card_images
    ADD CONSTRAINT card_images_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: channels channels_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.channels
    ADD CONSTRAINT channels_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id);

--
-- Name: clips clips_card_image; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.clips
    ADD CONSTRAINT clips_card_image FOREIGN KEY (tenant_id, card_image) REFERENCES doorstep.card_images(tenant_id, sha256) NOT VALID;

--
-- Name: clips clips_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.clips
    ADD CONSTRAINT clips_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: domain_checks domain_checks_tenant_id_host_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.domain_checks
    ADD CONSTRAINT domain_checks_tenant_id_host_fkey FOREIGN KEY (tenant_id, host) REFERENCES doorstep.domains(tenant_id, host) ON DELETE CASCADE;

--
-- Name: domains domains_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.domains
    ADD CONSTRAINT domains_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: event_recordings event_recordings_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.event_recordings
    ADD CONSTRAINT event_recordings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id) ON DELETE CASCADE;

--
-- Name: events events_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.event_recordings(tenant_id) ON DELETE CASCADE;

--
-- Name: experiences experiences_card_image; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.experiences
    ADD CONSTRAINT experiences_card_image FOREIGN KEY (tenant_id, card_image) REFERENCES doorstep.card_images(tenant_id, sha256) NOT VALID;

--
-- Name: experiences experiences_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.experiences
    ADD CONSTRAINT experiences_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id);

--
-- Name: experiences experiences_tenant_id_location_identifier_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.experiences
    ADD CONSTRAINT experiences_tenant_id_location_identifier_fkey FOREIGN KEY (tenant_id, location_identifier) REFERENCES doorstep.locations(tenant_id, identifier);

--
-- Name: idempotency_keys idempotency_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.idempotency_keys
    ADD CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: instances instances_tenant_id_bundle_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.instances
    ADD CONSTRAINT instances_tenant_id_bundle_id_fkey FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips(tenant_id, bundle_id);

--
-- Name: instances instances_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.instances
    ADD CONSTRAINT instances_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: launch_days launch_days_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.launch_days
    ADD CONSTRAINT launch_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id) ON DELETE CASCADE;

--
-- Name: launches launches_tenant_id_instance_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.launches
    ADD CONSTRAINT launches_tenant_id_instance_id_fkey FOREIGN KEY (tenant_id, instance_id) REFERENCES doorstep.instances(tenant_id, instance_id) ON DELETE CASCADE;

--
-- Name: locations locations_card_image; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.locations
    ADD CONSTRAINT locations_card_image FOREIGN KEY (tenant_id, card_image) REFERENCES doorstep.card_images(tenant_id, sha256) NOT VALID;

--
-- Name: locations locations_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.locations
    ADD CONSTRAINT locations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: push_tokens push_tokens_tenant_id_instance_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.push_tokens
    ADD CONSTRAINT push_tokens_tenant_id_instance_id_fkey FOREIGN KEY (tenant_id, instance_id) REFERENCES doorstep.instances(tenant_id, instance_id) ON DELETE CASCADE;

--
-- Name: refused_requests refused_requests_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.refused_requests
    ADD CONSTRAINT refused_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id) ON DELETE CASCADE;

--
-- Name: revoked_attest_keys revoked_attest_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.revoked_attest_keys
    ADD CONSTRAINT revoked_attest_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: row_counts row_counts_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.row_counts
    ADD CONSTRAINT row_counts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id) ON DELETE CASCADE;

--
-- Name: short_codes short_codes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.short_codes
    ADD CONSTRAINT short_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: tenant_usage tenant_usage_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.tenant_usage
    ADD CONSTRAINT tenant_usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id) ON DELETE CASCADE;

--
-- Name: webhook_messages webhook_messages_tenant_id_webhook_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhook_messages
    ADD CONSTRAINT webhook_messages_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES doorstep.webhooks(tenant_id, webhook_id) ON DELETE CASCADE;

--
-- Name: webhook_responses webhook_responses_tenant_id_webhook_id_message_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhook_responses
    ADD CONSTRAINT webhook_responses_tenant_id_webhook_id_message_id_fkey FOREIGN KEY (tenant_id, webhook_id, message_id) REFERENCES doorstep.webhook_messages(tenant_id, webhook_id, message_id) ON DELETE CASCADE;

--
-- Name: webhooks webhooks_tenant_id_fkey; Type: FK CONSTRAINT; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE ONLY doorstep.webhooks
    ADD CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants(tenant_id);

--
-- Name: tenants admin_lists_tenants; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY admin_lists_tenants ON doorstep.tenants FOR SELECT TO doorstep_admin USING (true);

--
-- Name: row_counts admin_lists_usage; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY admin_lists_usage ON doorstep.row_counts FOR SELECT TO doorstep_admin USING (true);

--
-- Name: tenant_usage admin_lists_usage; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY admin_lists_usage ON doorstep.tenant_usage FOR SELECT TO doorstep_admin USING (true);

--
-- Name: api_keys; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.api_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: api_keys app_prunes; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY app_prunes ON doorstep.api_keys AS RESTRICTIVE FOR DELETE TO doorstep_app USING ((revoked_at < (now() - '30 days'::interval)));

--
-- Name: app_store_budget; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_budget ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_check_rows; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_check_rows ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_checks; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_checks ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_connections; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_connections ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_experiences; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_experiences ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_images; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_images ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_refusals; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_refusals ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_removals; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_removals ENABLE ROW LEVEL SECURITY;

--
-- Name: app_store_runs; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.app_store_runs ENABLE ROW LEVEL SECURITY;

--
-- Name: attest_keys; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.attest_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: attestation_days; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.attestation_days ENABLE ROW LEVEL SECURITY;

--
-- Name: audience_cursors; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.audience_cursors ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_log; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.audit_log ENABLE ROW LEVEL SECURITY;

--
-- Name: card_image_bytes; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.card_image_bytes ENABLE ROW LEVEL SECURITY;

--
-- Name: card_images; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.card_images ENABLE ROW LEVEL SECURITY;

--
-- Name: changes; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.changes ENABLE ROW LEVEL SECURITY;

--
-- Name: channels; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.channels ENABLE ROW LEVEL SECURITY;

--
-- Name: clips; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.clips ENABLE ROW LEVEL SECURITY;

--
-- Name: confirmations; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.confirmations ENABLE ROW LEVEL SECURITY;

--
-- Name: confirmations_default; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.confirmations_default ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.deliveries ENABLE ROW LEVEL SECURITY;

--
-- Name: domain_checks; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.domain_checks ENABLE ROW LEVEL SECURITY;

--
-- Name: domains; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.domains ENABLE ROW LEVEL SECURITY;

--
-- Name: event_recordings; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.event_recordings ENABLE ROW LEVEL SECURITY;

--
-- Name: events; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.events ENABLE ROW LEVEL SECURITY;

--
-- Name: experiences; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.experiences ENABLE ROW LEVEL SECURITY;

--
-- Name: idempotency_keys; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.idempotency_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: instances; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.instances ENABLE ROW LEVEL SECURITY;

--
-- Name: launch_days; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.launch_days ENABLE ROW LEVEL SECURITY;

--
-- Name: launches; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.launches ENABLE ROW LEVEL SECURITY;

--
-- Name: locations; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.locations ENABLE ROW LEVEL SECURITY;

--
-- Name: notifications; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.notifications ENABLE ROW LEVEL SECURITY;

--
-- Name: confirmations_default owner_finds_what_to_move; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_finds_what_to_move ON doorstep.confirmations_default FOR SELECT TO doorstep_owner USING (true);

--
-- Name: audit_log owner_finds_what_to_prune; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_finds_what_to_prune ON doorstep.audit_log FOR SELECT TO doorstep_owner USING ((at < (now() - '7 days'::interval)));

--
-- Name: changes owner_finds_what_to_prune; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_finds_what_to_prune ON doorstep.changes FOR SELECT TO doorstep_owner USING ((at < (now() - '01:00:00'::interval)));

--
-- Name: row_counts owner_finds_what_to_prune; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_finds_what_to_prune ON doorstep.row_counts FOR SELECT TO doorstep_owner USING (((kind = 'deliveries'::text) AND (counted_on < CURRENT_DATE)));

--
-- Name: confirmations_default owner_moves; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_moves ON doorstep.confirmations_default FOR DELETE TO doorstep_owner USING (true);

--
-- Name: audit_log owner_prunes; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_prunes ON doorstep.audit_log FOR DELETE TO doorstep_owner USING ((at < (now() - '7 days'::interval)));

--
-- Name: changes owner_prunes; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_prunes ON doorstep.changes FOR DELETE TO doorstep_owner USING ((at < (now() - '01:00:00'::interval)));

--
-- Name: row_counts owner_prunes; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY owner_prunes ON doorstep.row_counts FOR DELETE TO doorstep_owner USING (((kind = 'deliveries'::text) AND (counted_on < CURRENT_DATE)));

--
-- Name: push_tokens; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.push_tokens ENABLE ROW LEVEL SECURITY;

--
-- Name: refused_requests; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.refused_requests ENABLE ROW LEVEL SECURITY;

--
-- Name: revoked_attest_keys; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.revoked_attest_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: api_keys router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.api_keys FOR SELECT TO doorstep_router USING (true);

--
-- Name: app_store_checks router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.app_store_checks FOR SELECT TO doorstep_router USING (true);

--
-- Name: app_store_connections router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.app_store_connections FOR SELECT TO doorstep_router USING (true);

--
-- Name: attest_keys router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.attest_keys FOR SELECT TO doorstep_router USING (true);

--
-- Name: attestation_days router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.attestation_days FOR SELECT TO doorstep_router USING (true);

--
-- Name: audience_cursors router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.audience_cursors FOR SELECT TO doorstep_router USING (true);

--
-- Name: changes router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.changes FOR SELECT TO doorstep_router USING (true);

--
-- Name: clips router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.clips FOR SELECT TO doorstep_router USING (true);

--
-- Name: deliveries router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.deliveries FOR SELECT TO doorstep_router USING (true);

--
-- Name: domain_checks router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.domain_checks FOR SELECT TO doorstep_router USING (true);

--
-- Name: domains router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.domains FOR SELECT TO doorstep_router USING (true);

--
-- Name: event_recordings router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.event_recordings FOR SELECT TO doorstep_router USING (true);

--
-- Name: experiences router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.experiences FOR SELECT TO doorstep_router USING (true);

--
-- Name: idempotency_keys router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.idempotency_keys FOR SELECT TO doorstep_router USING (true);

--
-- Name: instances router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.instances FOR SELECT TO doorstep_router USING (true);

--
-- Name: launch_days router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.launch_days FOR SELECT TO doorstep_router USING (true);

--
-- Name: locations router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.locations FOR SELECT TO doorstep_router USING (true);

--
-- Name: push_tokens router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.push_tokens FOR SELECT TO doorstep_router USING (true);

--
-- Name: refused_requests router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.refused_requests FOR SELECT TO doorstep_router USING (true);

--
-- Name: revoked_attest_keys router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.revoked_attest_keys FOR SELECT TO doorstep_router USING (true);

--
-- Name: row_counts router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.row_counts FOR SELECT TO doorstep_router USING (true);

--
-- Name: short_codes router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.short_codes FOR SELECT TO doorstep_router USING (true);

--
-- Name: tenant_usage router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.tenant_usage FOR SELECT TO doorstep_router USING (true);

--
-- Name: tenants router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.tenants FOR SELECT TO doorstep_router USING (true);

--
-- Name: webhook_messages router_reads; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY router_reads ON doorstep.webhook_messages FOR SELECT TO doorstep_router USING (true);

--
-- Name: row_counts; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.row_counts ENABLE ROW LEVEL SECURITY;

--
-- Name: short_codes; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.short_codes ENABLE ROW LEVEL SECURITY;

--
-- Name: api_keys tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.api_keys USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_budget tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_budget USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_check_rows tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_check_rows USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_checks tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_checks USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_connections tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_connections USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_experiences tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_experiences USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_images tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_images USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_refusals tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_refusals USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_removals tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_removals USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: app_store_runs tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.app_store_runs USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: attest_keys tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.attest_keys USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: attestation_days tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.attestation_days USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: audience_cursors tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.audience_cursors USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: audit_log tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.audit_log USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: card_image_bytes tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.card_image_bytes USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: card_images tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.card_images USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: changes tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.changes USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: channels tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.channels USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: clips tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.clips USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: confirmations tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.confirmations USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: confirmations_default tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.confirmations_default USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: deliveries tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.deliveries USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: domain_checks tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.domain_checks USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: domains tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.domains USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: event_recordings tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.event_recordings USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: events tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.events USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: experiences tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.experiences USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: idempotency_keys tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.idempotency_keys USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: instances tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.instances USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: launch_days tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.launch_days USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: launches tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.launches USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: locations tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.locations USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: notifications tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.notifications USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: push_tokens tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.push_tokens USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: refused_requests tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.refused_requests USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: revoked_attest_keys tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.revoked_attest_keys USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: row_counts tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.row_counts USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: short_codes tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.short_codes USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: tenant_usage tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.tenant_usage USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: tenants tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.tenants USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: webhook_messages tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.webhook_messages USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: webhook_responses tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.webhook_responses USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: webhooks tenant_isolation; Type: POLICY; Schema: doorstep; Owner: doorstep_owner
--

CREATE POLICY tenant_isolation ON doorstep.webhooks USING ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))) WITH CHECK ((tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id)));

--
-- Name: tenant_usage; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.tenant_usage ENABLE ROW LEVEL SECURITY;

--
-- Name: tenants; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.tenants ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_messages; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.webhook_messages ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_responses; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.webhook_responses ENABLE ROW LEVEL SECURITY;

--
-- Name: webhooks; Type: ROW SECURITY; Schema: doorstep; Owner: doorstep_owner
--

ALTER TABLE doorstep.webhooks ENABLE ROW LEVEL SECURITY;

--
-- Name: SCHEMA doorstep; Type: ACL; Schema: -; Owner: doorstep_owner
--

GRANT USAGE ON SCHEMA doorstep TO doorstep_app;
GRANT USAGE ON SCHEMA doorstep TO doorstep_admin;
GRANT USAGE ON SCHEMA doorstep TO doorstep_router;
GRANT USAGE ON SCHEMA doorstep TO doorstep_manager;

--
-- Name: FUNCTION add_confirmation_days(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.add_confirmation_days() FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.add_confirmation_days() TO doorstep_router;

--
-- Name: FUNCTION add_notification_days(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.add_notification_days() FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.add_notification_days() TO doorstep_router;

--
-- Name: FUNCTION add_usage(of_kind text, added_rows bigint, added_bytes bigint); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.add_usage(of_kind text, added_rows bigint, added_bytes bigint) FROM PUBLIC;

--
-- Name: FUNCTION begin_usage(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.begin_usage() FROM PUBLIC;

--
-- Name: FUNCTION check_keys_of_test_tenants(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.check_keys_of_test_tenants() FROM PUBLIC;

--
-- Name: FUNCTION confirmation_days(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.confirmation_days() FROM PUBLIC;

--
-- Name: FUNCTION count_rows(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.count_rows() FROM PUBLIC;

--
-- Name: FUNCTION count_usage(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.count_usage() FROM PUBLIC;

--
-- Name: FUNCTION delete_confirmations_of_tenant(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.delete_confirmations_of_tenant() FROM PUBLIC;

--
-- Name: FUNCTION delete_notifications_of_tenant(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.delete_notifications_of_tenant() FROM PUBLIC;

--
-- Name: FUNCTION drop_confirmation_days(retention integer); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.drop_confirmation_days(retention integer) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.drop_confirmation_days(retention integer) TO doorstep_router;

--
-- Name: FUNCTION drop_notification_days(retention integer); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.drop_notification_days(retention integer) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.drop_notification_days(retention integer) TO doorstep_router;

--
-- Name: FUNCTION index_confirmation_days(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.index_confirmation_days() FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.index_confirmation_days() TO doorstep_router;

--
-- Name: FUNCTION note_token_secret(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.note_token_secret() FROM PUBLIC;

--
-- Name: FUNCTION prune_audit_log(retention integer); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.prune_audit_log(retention integer) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.prune_audit_log(retention integer) TO doorstep_router;

--
-- Name: FUNCTION prune_changes(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.prune_changes() FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.prune_changes() TO doorstep_router;

--
-- Name: FUNCTION prune_console_events(retention integer); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.prune_console_events(retention integer) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.prune_console_events(retention integer) TO doorstep_admin;

--
-- Name: FUNCTION record_act(act text, of_relation text, meant jsonb, done jsonb); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) TO doorstep_admin;
GRANT ALL ON FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) TO doorstep_manager;
GRANT ALL ON FUNCTION doorstep.record_act(act text, of_relation text, meant jsonb, done jsonb) TO doorstep_app;

--
-- Name: FUNCTION record_change(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.record_change() FROM PUBLIC;

--
-- Name: FUNCTION record_routing_change(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.record_routing_change() FROM PUBLIC;

--
-- Name: FUNCTION renew_presence(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.renew_presence() FROM PUBLIC;

--
-- Name: FUNCTION require_confirmed_tenant(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.require_confirmed_tenant() FROM PUBLIC;

--
-- Name: FUNCTION require_notifying_tenant(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.require_notifying_tenant() FROM PUBLIC;

--
-- Name: FUNCTION settle_usage(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.settle_usage() FROM PUBLIC;

--
-- Name: FUNCTION tell_webhooks(); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.tell_webhooks() FROM PUBLIC;

--
-- Name: FUNCTION tenant_quotas(of_tenant uuid); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.tenant_quotas(of_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.tenant_quotas(of_tenant uuid) TO doorstep_admin;
GRANT ALL ON FUNCTION doorstep.tenant_quotas(of_tenant uuid) TO doorstep_manager;
GRANT ALL ON FUNCTION doorstep.tenant_quotas(of_tenant uuid) TO doorstep_router;

--
-- Name: FUNCTION trim_audit_log(of_tenant uuid); Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON FUNCTION doorstep.trim_audit_log(of_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION doorstep.trim_audit_log(of_tenant uuid) TO doorstep_router;

--
-- Name: TABLE api_keys; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.api_keys FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.api_keys TO doorstep_owner;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.api_keys TO doorstep_admin;
GRANT INSERT ON TABLE doorstep.api_keys TO doorstep_manager;
GRANT DELETE ON TABLE doorstep.api_keys TO doorstep_app;

--
-- Name: COLUMN api_keys.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.api_keys TO doorstep_app;
GRANT SELECT(tenant_id) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(tenant_id) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.key_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(key_id) ON TABLE doorstep.api_keys TO doorstep_app;
GRANT SELECT(key_id) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(key_id) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.kind; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(kind) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(kind) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.digest; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(digest) ON TABLE doorstep.api_keys TO doorstep_router;

--
-- Name: COLUMN api_keys.hint; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(hint) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.created_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(created_at) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.expires_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(expires_at) ON TABLE doorstep.api_keys TO doorstep_admin;
GRANT SELECT(expires_at) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(expires_at),UPDATE(expires_at) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.revoked_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(revoked_at) ON TABLE doorstep.api_keys TO doorstep_admin;
GRANT SELECT(revoked_at) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(revoked_at),UPDATE(revoked_at) ON TABLE doorstep.api_keys TO doorstep_manager;
GRANT SELECT(revoked_at) ON TABLE doorstep.api_keys TO doorstep_app;

--
-- Name: COLUMN api_keys.last_used_on; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(last_used_on),UPDATE(last_used_on) ON TABLE doorstep.api_keys TO doorstep_app;
GRANT SELECT(last_used_on) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.scopes; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(scopes) ON TABLE doorstep.api_keys TO doorstep_router;
GRANT SELECT(scopes) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.successor_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(successor_id) ON TABLE doorstep.api_keys TO doorstep_admin;
GRANT SELECT(successor_id),UPDATE(successor_id) ON TABLE doorstep.api_keys TO doorstep_manager;

--
-- Name: COLUMN api_keys.locations; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(locations) ON TABLE doorstep.api_keys TO doorstep_manager;
GRANT SELECT(locations) ON TABLE doorstep.api_keys TO doorstep_router;

--
-- Name: COLUMN api_keys.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(name),UPDATE(name) ON TABLE doorstep.api_keys TO doorstep_manager;
GRANT UPDATE(name) ON TABLE doorstep.api_keys TO doorstep_admin;

--
-- Name: TABLE app_store_budget; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_budget TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_budget TO doorstep_app;

--
-- Name: COLUMN app_store_budget.spent; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(spent) ON TABLE doorstep.app_store_budget TO doorstep_admin;
GRANT UPDATE(spent) ON TABLE doorstep.app_store_budget TO doorstep_app;

--
-- Name: TABLE app_store_check_rows; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_check_rows TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_check_rows TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.app_store_check_rows TO doorstep_manager;

--
-- Name: TABLE app_store_checks; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_checks TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.app_store_checks TO doorstep_manager;

--
-- Name: COLUMN app_store_checks.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: COLUMN app_store_checks.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: COLUMN app_store_checks.due_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(due_at) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(due_at) ON TABLE doorstep.app_store_checks TO doorstep_admin;
GRANT SELECT(due_at) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: COLUMN app_store_checks.checked_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(checked_at) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(checked_at) ON TABLE doorstep.app_store_checks TO doorstep_admin;
GRANT SELECT(checked_at) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: COLUMN app_store_checks.counts; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(counts) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(counts) ON TABLE doorstep.app_store_checks TO doorstep_admin;
GRANT SELECT(counts) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: COLUMN app_store_checks.summary; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(summary) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(summary) ON TABLE doorstep.app_store_checks TO doorstep_admin;

--
-- Name: COLUMN app_store_checks.findings_digest; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(findings_digest) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(findings_digest) ON TABLE doorstep.app_store_checks TO doorstep_admin;

--
-- Name: COLUMN app_store_checks.failure; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(failure) ON TABLE doorstep.app_store_checks TO doorstep_app;
GRANT UPDATE(failure) ON TABLE doorstep.app_store_checks TO doorstep_admin;
GRANT SELECT(failure) ON TABLE doorstep.app_store_checks TO doorstep_router;

--
-- Name: TABLE app_store_connections; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_connections TO doorstep_admin;
GRANT DELETE ON TABLE doorstep.app_store_connections TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.app_store_connections TO doorstep_app;

--
-- Name: COLUMN app_store_connections.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.app_store_connections TO doorstep_manager;
GRANT SELECT(tenant_id) ON TABLE doorstep.app_store_connections TO doorstep_router;

--
-- Name: COLUMN app_store_connections.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.app_store_connections TO doorstep_manager;
GRANT SELECT(bundle_id) ON TABLE doorstep.app_store_connections TO doorstep_router;

--
-- Name: COLUMN app_store_connections.key_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(key_id) ON TABLE doorstep.app_store_connections TO doorstep_admin;
GRANT SELECT(key_id) ON TABLE doorstep.app_store_connections TO doorstep_manager;

--
-- Name: COLUMN app_store_connections.issuer_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(issuer_id) ON TABLE doorstep.app_store_connections TO doorstep_admin;

--
-- Name: COLUMN app_store_connections.sealed_secret; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sealed_secret) ON TABLE doorstep.app_store_connections TO doorstep_admin;

--
-- Name: COLUMN app_store_connections.connected_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(connected_at) ON TABLE doorstep.app_store_connections TO doorstep_admin;

--
-- Name: TABLE app_store_experiences; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_experiences TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.app_store_experiences TO doorstep_app;

--
-- Name: COLUMN app_store_experiences.phase; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(phase) ON TABLE doorstep.app_store_experiences TO doorstep_admin;

--
-- Name: COLUMN app_store_experiences.remote_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(remote_id) ON TABLE doorstep.app_store_experiences TO doorstep_admin;

--
-- Name: COLUMN app_store_experiences.content; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(content) ON TABLE doorstep.app_store_experiences TO doorstep_admin;

--
-- Name: COLUMN app_store_experiences.sent_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sent_at) ON TABLE doorstep.app_store_experiences TO doorstep_admin;

--
-- Name: COLUMN app_store_experiences.missing_listings; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(missing_listings) ON TABLE doorstep.app_store_experiences TO doorstep_admin;

--
-- Name: COLUMN app_store_experiences.undesired_since; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(undesired_since) ON TABLE doorstep.app_store_experiences TO doorstep_admin;
GRANT UPDATE(undesired_since) ON TABLE doorstep.app_store_experiences TO doorstep_app;

--
-- Name: TABLE app_store_images; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_images TO doorstep_admin;

--
-- Name: COLUMN app_store_images.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.sha256; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(sha256) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.holder; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(holder) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.remote_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(remote_id) ON TABLE doorstep.app_store_images TO doorstep_admin;
GRANT SELECT(remote_id) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.phase; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(phase) ON TABLE doorstep.app_store_images TO doorstep_admin;
GRANT SELECT(phase) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: COLUMN app_store_images.sealed_operations; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sealed_operations) ON TABLE doorstep.app_store_images TO doorstep_admin;

--
-- Name: COLUMN app_store_images.reserved_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(reserved_at) ON TABLE doorstep.app_store_images TO doorstep_admin;
GRANT SELECT(reserved_at) ON TABLE doorstep.app_store_images TO doorstep_app;

--
-- Name: TABLE app_store_refusals; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_refusals TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.app_store_refusals TO doorstep_app;

--
-- Name: COLUMN app_store_refusals.content; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(content) ON TABLE doorstep.app_store_refusals TO doorstep_admin;

--
-- Name: COLUMN app_store_refusals.code; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(code) ON TABLE doorstep.app_store_refusals TO doorstep_admin;

--
-- Name: COLUMN app_store_refusals.source; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(source) ON TABLE doorstep.app_store_refusals TO doorstep_admin;

--
-- Name: COLUMN app_store_refusals.request_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(request_id) ON TABLE doorstep.app_store_refusals TO doorstep_admin;

--
-- Name: COLUMN app_store_refusals.refused_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(refused_at) ON TABLE doorstep.app_store_refusals TO doorstep_admin;

--
-- Name: TABLE app_store_removals; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_removals TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.app_store_removals TO doorstep_app;

--
-- Name: TABLE app_store_runs; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.app_store_runs TO doorstep_admin;

--
-- Name: COLUMN app_store_runs.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.run_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(run_id) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.actor; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(actor) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.started_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(started_at) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.ended_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(ended_at) ON TABLE doorstep.app_store_runs TO doorstep_admin;
GRANT SELECT(ended_at) ON TABLE doorstep.app_store_runs TO doorstep_app;

--
-- Name: COLUMN app_store_runs.outcome; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(outcome) ON TABLE doorstep.app_store_runs TO doorstep_admin;

--
-- Name: TABLE attest_keys; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.attest_keys TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.attest_keys TO doorstep_admin;

--
-- Name: COLUMN attest_keys.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.attest_keys TO doorstep_manager;
GRANT SELECT(tenant_id) ON TABLE doorstep.attest_keys TO doorstep_router;

--
-- Name: COLUMN attest_keys.key_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(key_id) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.environment; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(environment) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.counter; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(counter) ON TABLE doorstep.attest_keys TO doorstep_app;

--
-- Name: COLUMN attest_keys.category; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(category) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.bundle_version; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_version) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.attested_on; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(attested_on) ON TABLE doorstep.attest_keys TO doorstep_manager;

--
-- Name: COLUMN attest_keys.last_used_on; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(last_used_on) ON TABLE doorstep.attest_keys TO doorstep_app;
GRANT SELECT(last_used_on) ON TABLE doorstep.attest_keys TO doorstep_manager;
GRANT SELECT(last_used_on) ON TABLE doorstep.attest_keys TO doorstep_router;

--
-- Name: TABLE attestation_days; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.attestation_days TO doorstep_app;
GRANT SELECT ON TABLE doorstep.attestation_days TO doorstep_manager;
GRANT SELECT,DELETE ON TABLE doorstep.attestation_days TO doorstep_admin;

--
-- Name: COLUMN attestation_days.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.attestation_days TO doorstep_router;

--
-- Name: COLUMN attestation_days.day; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(day) ON TABLE doorstep.attestation_days TO doorstep_router;

--
-- Name: COLUMN attestation_days.by_token; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(by_token) ON TABLE doorstep.attestation_days TO doorstep_app;

--
-- Name: COLUMN attestation_days.signed; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(signed) ON TABLE doorstep.attestation_days TO doorstep_app;

--
-- Name: COLUMN attestation_days.not_attested; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(not_attested) ON TABLE doorstep.attestation_days TO doorstep_app;

--
-- Name: TABLE audience_cursors; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.audience_cursors TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.audience_cursors TO doorstep_admin;

--
-- Name: COLUMN audience_cursors.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.audience_cursors TO doorstep_router;

--
-- Name: COLUMN audience_cursors.due_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(due_at) ON TABLE doorstep.audience_cursors TO doorstep_app;
GRANT SELECT(due_at) ON TABLE doorstep.audience_cursors TO doorstep_router;

--
-- Name: COLUMN audience_cursors.launched_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(launched_at) ON TABLE doorstep.audience_cursors TO doorstep_app;

--
-- Name: COLUMN audience_cursors.url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(url) ON TABLE doorstep.audience_cursors TO doorstep_app;

--
-- Name: COLUMN audience_cursors.instance_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(instance_id) ON TABLE doorstep.audience_cursors TO doorstep_app;

--
-- Name: COLUMN audience_cursors.delivery_count; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(delivery_count) ON TABLE doorstep.audience_cursors TO doorstep_app;

--
-- Name: TABLE audit_log; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.audit_log FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,TRIGGER ON TABLE doorstep.audit_log TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.audit_log TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.audit_log TO doorstep_manager;

--
-- Name: TABLE card_image_bytes; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.card_image_bytes TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.card_image_bytes TO doorstep_manager;

--
-- Name: TABLE card_images; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.card_images TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.card_images TO doorstep_manager;

--
-- Name: COLUMN card_images.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.card_images TO doorstep_app;

--
-- Name: COLUMN card_images.sha256; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(sha256) ON TABLE doorstep.card_images TO doorstep_app;

--
-- Name: COLUMN card_images.byte_count; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(byte_count) ON TABLE doorstep.card_images TO doorstep_app;

--
-- Name: TABLE change_horizon; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.change_horizon TO doorstep_router;

--
-- Name: TABLE changes; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.changes TO doorstep_router;

--
-- Name: TABLE channels; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.channels TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.channels TO doorstep_admin;
GRANT SELECT,DELETE ON TABLE doorstep.channels TO doorstep_manager;

--
-- Name: TABLE clips; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.clips FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.clips TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.clips TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.clips TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.clips TO doorstep_manager;

--
-- Name: COLUMN clips.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(bundle_id) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.parent_bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(parent_bundle_id) ON TABLE doorstep.clips TO doorstep_admin;
GRANT SELECT(parent_bundle_id) ON TABLE doorstep.clips TO doorstep_router;
GRANT UPDATE(parent_bundle_id) ON TABLE doorstep.clips TO doorstep_manager;

--
-- Name: COLUMN clips.team_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(team_id) ON TABLE doorstep.clips TO doorstep_admin;
GRANT SELECT(team_id) ON TABLE doorstep.clips TO doorstep_router;
GRANT UPDATE(team_id) ON TABLE doorstep.clips TO doorstep_manager;

--
-- Name: COLUMN clips.multi_business; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(multi_business) ON TABLE doorstep.clips TO doorstep_admin;
GRANT SELECT(multi_business) ON TABLE doorstep.clips TO doorstep_router;
GRANT UPDATE(multi_business) ON TABLE doorstep.clips TO doorstep_manager;

--
-- Name: COLUMN clips.app_id_prefix; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(app_id_prefix) ON TABLE doorstep.clips TO doorstep_admin;
GRANT SELECT(app_id_prefix) ON TABLE doorstep.clips TO doorstep_router;
GRANT UPDATE(app_id_prefix) ON TABLE doorstep.clips TO doorstep_manager;

--
-- Name: COLUMN clips.attestation; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(attestation) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(attestation) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(attestation) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.app_store_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(app_store_id) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(app_store_id) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(app_store_id) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.android_url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(android_url) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(android_url) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(android_url) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.site_name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(site_name) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(site_name) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(site_name) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.card; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(card) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(card) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: COLUMN clips.card_image; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card_image) ON TABLE doorstep.clips TO doorstep_admin;
GRANT UPDATE(card_image) ON TABLE doorstep.clips TO doorstep_manager;
GRANT SELECT(card_image) ON TABLE doorstep.clips TO doorstep_router;

--
-- Name: TABLE confirmations; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT INSERT ON TABLE doorstep.confirmations TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.confirmations TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.confirmations TO doorstep_manager;

--
-- Name: TABLE console_events; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.console_events TO doorstep_admin;

--
-- Name: COLUMN console_events.event; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT INSERT(event) ON TABLE doorstep.console_events TO doorstep_admin;

--
-- Name: COLUMN console_events.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT INSERT(name) ON TABLE doorstep.console_events TO doorstep_admin;

--
-- Name: TABLE console_key; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.console_key TO doorstep_admin;

--
-- Name: TABLE console_links; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.console_links TO doorstep_admin;

--
-- Name: TABLE console_sessions; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.console_sessions TO doorstep_admin;

--
-- Name: COLUMN console_sessions.seen_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(seen_at) ON TABLE doorstep.console_sessions TO doorstep_admin;

--
-- Name: TABLE deliveries; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT ON TABLE doorstep.deliveries TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.deliveries TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.deliveries TO doorstep_manager;

--
-- Name: COLUMN deliveries.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.deliveries TO doorstep_router;

--
-- Name: COLUMN deliveries.state; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(state) ON TABLE doorstep.deliveries TO doorstep_app;
GRANT UPDATE(state) ON TABLE doorstep.deliveries TO doorstep_admin;
GRANT UPDATE(state) ON TABLE doorstep.deliveries TO doorstep_manager;

--
-- Name: COLUMN deliveries.reason; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(reason) ON TABLE doorstep.deliveries TO doorstep_app;

--
-- Name: COLUMN deliveries.due_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(due_at) ON TABLE doorstep.deliveries TO doorstep_app;
GRANT UPDATE(due_at) ON TABLE doorstep.deliveries TO doorstep_admin;
GRANT SELECT(due_at) ON TABLE doorstep.deliveries TO doorstep_router;
GRANT UPDATE(due_at) ON TABLE doorstep.deliveries TO doorstep_manager;

--
-- Name: COLUMN deliveries.attempt; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(attempt) ON TABLE doorstep.deliveries TO doorstep_app;

--
-- Name: COLUMN deliveries.lost_replies; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(lost_replies) ON TABLE doorstep.deliveries TO doorstep_app;
GRANT UPDATE(lost_replies) ON TABLE doorstep.deliveries TO doorstep_admin;
GRANT UPDATE(lost_replies) ON TABLE doorstep.deliveries TO doorstep_manager;

--
-- Name: COLUMN deliveries.finished_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(finished_at) ON TABLE doorstep.deliveries TO doorstep_app;
GRANT UPDATE(finished_at) ON TABLE doorstep.deliveries TO doorstep_admin;
GRANT UPDATE(finished_at) ON TABLE doorstep.deliveries TO doorstep_manager;

--
-- Name: COLUMN deliveries.answers; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(answers) ON TABLE doorstep.deliveries TO doorstep_app;

--
-- Name: TABLE domain_checks; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT ON TABLE doorstep.domain_checks TO doorstep_app;
GRANT SELECT ON TABLE doorstep.domain_checks TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.domain_checks TO doorstep_manager;

--
-- Name: COLUMN domain_checks.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.domain_checks TO doorstep_router;

--
-- Name: COLUMN domain_checks.host; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(host) ON TABLE doorstep.domain_checks TO doorstep_router;

--
-- Name: COLUMN domain_checks.due_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(due_at) ON TABLE doorstep.domain_checks TO doorstep_app;
GRANT SELECT(due_at) ON TABLE doorstep.domain_checks TO doorstep_router;

--
-- Name: COLUMN domain_checks.began_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(began_at) ON TABLE doorstep.domain_checks TO doorstep_app;
GRANT SELECT(began_at) ON TABLE doorstep.domain_checks TO doorstep_router;

--
-- Name: COLUMN domain_checks.contested_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(contested_at) ON TABLE doorstep.domain_checks TO doorstep_app;
GRANT SELECT(contested_at) ON TABLE doorstep.domain_checks TO doorstep_router;

--
-- Name: TABLE domains; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.domains FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.domains TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.domains TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.domains TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.domains TO doorstep_router;

--
-- Name: COLUMN domains.host; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(host) ON TABLE doorstep.domains TO doorstep_router;

--
-- Name: COLUMN domains.challenge; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(challenge) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(challenge) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.claimed_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(claimed_at) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(claimed_at) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.proved_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(proved_at) ON TABLE doorstep.domains TO doorstep_admin;
GRANT SELECT(proved_at) ON TABLE doorstep.domains TO doorstep_router;
GRANT UPDATE(proved_at) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.method; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(method) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(method) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.checked_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(checked_at) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(checked_at) ON TABLE doorstep.domains TO doorstep_manager;
GRANT SELECT(checked_at) ON TABLE doorstep.domains TO doorstep_router;

--
-- Name: COLUMN domains.lapsed_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(lapsed_at) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(lapsed_at) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.content; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(content) ON TABLE doorstep.domains TO doorstep_admin;
GRANT SELECT(content) ON TABLE doorstep.domains TO doorstep_router;
GRANT UPDATE(content) ON TABLE doorstep.domains TO doorstep_manager;

--
-- Name: COLUMN domains.pages; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(pages) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(pages) ON TABLE doorstep.domains TO doorstep_manager;
GRANT SELECT(pages) ON TABLE doorstep.domains TO doorstep_router;

--
-- Name: COLUMN domains.contested_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(contested_at) ON TABLE doorstep.domains TO doorstep_admin;
GRANT UPDATE(contested_at) ON TABLE doorstep.domains TO doorstep_manager;
GRANT SELECT(contested_at) ON TABLE doorstep.domains TO doorstep_router;

--
-- Name: TABLE event_recordings; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,DELETE ON TABLE doorstep.event_recordings TO doorstep_app;
GRANT SELECT,INSERT ON TABLE doorstep.event_recordings TO doorstep_admin;
GRANT SELECT,INSERT ON TABLE doorstep.event_recordings TO doorstep_manager;

--
-- Name: COLUMN event_recordings.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.event_recordings TO doorstep_router;

--
-- Name: COLUMN event_recordings.ends_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(ends_at) ON TABLE doorstep.event_recordings TO doorstep_router;
GRANT UPDATE(ends_at) ON TABLE doorstep.event_recordings TO doorstep_app;
GRANT UPDATE(ends_at) ON TABLE doorstep.event_recordings TO doorstep_admin;
GRANT UPDATE(ends_at) ON TABLE doorstep.event_recordings TO doorstep_manager;

--
-- Name: COLUMN event_recordings.first_xid; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(first_xid) ON TABLE doorstep.event_recordings TO doorstep_admin;
GRANT UPDATE(first_xid) ON TABLE doorstep.event_recordings TO doorstep_manager;

--
-- Name: TABLE events; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT ON TABLE doorstep.events TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.events TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.events TO doorstep_manager;

--
-- Name: TABLE experiences; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.experiences FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.experiences TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.experiences TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.experiences TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.experiences TO doorstep_manager;

--
-- Name: COLUMN experiences.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.kind; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(kind) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(url) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(bundle_id) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT SELECT(bundle_id) ON TABLE doorstep.experiences TO doorstep_router;
GRANT UPDATE(bundle_id) ON TABLE doorstep.experiences TO doorstep_manager;

--
-- Name: COLUMN experiences.location_identifier; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(location_identifier) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT SELECT(location_identifier) ON TABLE doorstep.experiences TO doorstep_router;
GRANT UPDATE(location_identifier) ON TABLE doorstep.experiences TO doorstep_manager;

--
-- Name: COLUMN experiences.identifier_rule; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(identifier_rule) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT SELECT(identifier_rule) ON TABLE doorstep.experiences TO doorstep_router;
GRANT UPDATE(identifier_rule) ON TABLE doorstep.experiences TO doorstep_manager;

--
-- Name: COLUMN experiences.title; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(title) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT UPDATE(title) ON TABLE doorstep.experiences TO doorstep_manager;
GRANT SELECT(title) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.subtitle; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(subtitle) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT UPDATE(subtitle) ON TABLE doorstep.experiences TO doorstep_manager;
GRANT SELECT(subtitle) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.card; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT UPDATE(card) ON TABLE doorstep.experiences TO doorstep_manager;
GRANT SELECT(card) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: COLUMN experiences.card_image; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card_image) ON TABLE doorstep.experiences TO doorstep_admin;
GRANT UPDATE(card_image) ON TABLE doorstep.experiences TO doorstep_manager;
GRANT SELECT(card_image) ON TABLE doorstep.experiences TO doorstep_router;

--
-- Name: TABLE idempotency_keys; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.idempotency_keys TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.idempotency_keys TO doorstep_admin;

--
-- Name: COLUMN idempotency_keys.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.idempotency_keys TO doorstep_router;
GRANT SELECT(tenant_id) ON TABLE doorstep.idempotency_keys TO doorstep_manager;

--
-- Name: COLUMN idempotency_keys.key; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(key) ON TABLE doorstep.idempotency_keys TO doorstep_manager;

--
-- Name: COLUMN idempotency_keys.created_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(created_at) ON TABLE doorstep.idempotency_keys TO doorstep_router;

--
-- Name: COLUMN idempotency_keys.claim_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(claim_id) ON TABLE doorstep.idempotency_keys TO doorstep_app;
GRANT SELECT(claim_id) ON TABLE doorstep.idempotency_keys TO doorstep_manager;

--
-- Name: COLUMN idempotency_keys.claimed_until; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(claimed_until) ON TABLE doorstep.idempotency_keys TO doorstep_app;

--
-- Name: COLUMN idempotency_keys.performed_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(performed_at) ON TABLE doorstep.idempotency_keys TO doorstep_app;
GRANT UPDATE(performed_at) ON TABLE doorstep.idempotency_keys TO doorstep_manager;

--
-- Name: COLUMN idempotency_keys.sealed_response; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sealed_response) ON TABLE doorstep.idempotency_keys TO doorstep_app;

--
-- Name: TABLE instances; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.instances TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.instances TO doorstep_admin;
GRANT SELECT,DELETE ON TABLE doorstep.instances TO doorstep_manager;

--
-- Name: COLUMN instances.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.instances TO doorstep_router;

--
-- Name: COLUMN instances.bundle_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(bundle_id) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: COLUMN instances.app; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(app) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: COLUMN instances.environment; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(environment) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: COLUMN instances.permission; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(permission) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: COLUMN instances.launched_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(launched_at) ON TABLE doorstep.instances TO doorstep_app;
GRANT SELECT(launched_at) ON TABLE doorstep.instances TO doorstep_router;

--
-- Name: COLUMN instances.updated_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(updated_at) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: COLUMN instances.attest_key_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(attest_key_id) ON TABLE doorstep.instances TO doorstep_app;

--
-- Name: TABLE launch_days; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.launch_days TO doorstep_app;
GRANT SELECT ON TABLE doorstep.launch_days TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.launch_days TO doorstep_admin;

--
-- Name: COLUMN launch_days.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.launch_days TO doorstep_router;

--
-- Name: COLUMN launch_days.day; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(day) ON TABLE doorstep.launch_days TO doorstep_router;

--
-- Name: COLUMN launch_days.lookups; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(lookups) ON TABLE doorstep.launch_days TO doorstep_app;

--
-- Name: COLUMN launch_days.launch_reports; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(launch_reports) ON TABLE doorstep.launch_days TO doorstep_app;

--
-- Name: TABLE launches; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.launches TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.launches TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.launches TO doorstep_manager;

--
-- Name: COLUMN launches.experience_url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(experience_url) ON TABLE doorstep.launches TO doorstep_app;

--
-- Name: COLUMN launches.location_identifier; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(location_identifier) ON TABLE doorstep.launches TO doorstep_app;

--
-- Name: COLUMN launches.launched_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(launched_at) ON TABLE doorstep.launches TO doorstep_app;

--
-- Name: COLUMN launches.confirmed_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(confirmed_at) ON TABLE doorstep.launches TO doorstep_app;

--
-- Name: TABLE locations; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.locations FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.locations TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.locations TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.locations TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.locations TO doorstep_router;

--
-- Name: COLUMN locations.identifier; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(identifier) ON TABLE doorstep.locations TO doorstep_router;

--
-- Name: COLUMN locations.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(name) ON TABLE doorstep.locations TO doorstep_admin;
GRANT SELECT(name) ON TABLE doorstep.locations TO doorstep_router;
GRANT UPDATE(name) ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.latitude; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(latitude) ON TABLE doorstep.locations TO doorstep_admin;
GRANT SELECT(latitude) ON TABLE doorstep.locations TO doorstep_router;
GRANT UPDATE(latitude) ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.longitude; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(longitude) ON TABLE doorstep.locations TO doorstep_admin;
GRANT SELECT(longitude) ON TABLE doorstep.locations TO doorstep_router;
GRANT UPDATE(longitude) ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.radius; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(radius) ON TABLE doorstep.locations TO doorstep_admin;
GRANT SELECT(radius) ON TABLE doorstep.locations TO doorstep_router;
GRANT UPDATE(radius) ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.metadata; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(metadata) ON TABLE doorstep.locations TO doorstep_admin;
GRANT UPDATE(metadata) ON TABLE doorstep.locations TO doorstep_manager;

--
-- Name: COLUMN locations.details; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(details) ON TABLE doorstep.locations TO doorstep_admin;
GRANT UPDATE(details) ON TABLE doorstep.locations TO doorstep_manager;
GRANT SELECT(details) ON TABLE doorstep.locations TO doorstep_router;

--
-- Name: COLUMN locations.card; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card) ON TABLE doorstep.locations TO doorstep_admin;
GRANT UPDATE(card) ON TABLE doorstep.locations TO doorstep_manager;
GRANT SELECT(card) ON TABLE doorstep.locations TO doorstep_router;

--
-- Name: COLUMN locations.card_image; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(card_image) ON TABLE doorstep.locations TO doorstep_admin;
GRANT UPDATE(card_image) ON TABLE doorstep.locations TO doorstep_manager;
GRANT SELECT(card_image) ON TABLE doorstep.locations TO doorstep_router;

--
-- Name: TABLE notifications; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT ON TABLE doorstep.notifications TO doorstep_app;
GRANT SELECT,DELETE ON TABLE doorstep.notifications TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.notifications TO doorstep_manager;

--
-- Name: COLUMN notifications.skipped; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(skipped) ON TABLE doorstep.notifications TO doorstep_app;

--
-- Name: COLUMN notifications.cancelled_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(cancelled_at) ON TABLE doorstep.notifications TO doorstep_app;

--
-- Name: TABLE push_tokens; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.push_tokens TO doorstep_app;
GRANT DELETE ON TABLE doorstep.push_tokens TO doorstep_admin;

--
-- Name: COLUMN push_tokens.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(tenant_id) ON TABLE doorstep.push_tokens TO doorstep_router;
GRANT SELECT(tenant_id) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: COLUMN push_tokens.instance_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(instance_id) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(instance_id) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: COLUMN push_tokens.kind; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(kind) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(kind) ON TABLE doorstep.push_tokens TO doorstep_router;
GRANT SELECT(kind) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: COLUMN push_tokens.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(name) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(name) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: COLUMN push_tokens.digest; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(digest) ON TABLE doorstep.push_tokens TO doorstep_app;

--
-- Name: COLUMN push_tokens.sealed; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sealed) ON TABLE doorstep.push_tokens TO doorstep_app;

--
-- Name: COLUMN push_tokens.registered_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(registered_at) ON TABLE doorstep.push_tokens TO doorstep_app;
GRANT SELECT(registered_at) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(registered_at) ON TABLE doorstep.push_tokens TO doorstep_router;
GRANT SELECT(registered_at) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: COLUMN push_tokens.retired_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(retired_at) ON TABLE doorstep.push_tokens TO doorstep_app;
GRANT SELECT(retired_at) ON TABLE doorstep.push_tokens TO doorstep_admin;
GRANT SELECT(retired_at) ON TABLE doorstep.push_tokens TO doorstep_manager;

--
-- Name: TABLE quota_defaults; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.quota_defaults TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.quota_defaults TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.quota_defaults TO doorstep_router;

--
-- Name: COLUMN quota_defaults.maximum_rows; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(maximum_rows) ON TABLE doorstep.quota_defaults TO doorstep_admin;

--
-- Name: COLUMN quota_defaults.maximum_bytes; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(maximum_bytes) ON TABLE doorstep.quota_defaults TO doorstep_admin;

--
-- Name: TABLE refused_requests; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.refused_requests TO doorstep_app;
GRANT SELECT ON TABLE doorstep.refused_requests TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.refused_requests TO doorstep_admin;

--
-- Name: COLUMN refused_requests.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.refused_requests TO doorstep_router;

--
-- Name: COLUMN refused_requests.entry_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(entry_id) ON TABLE doorstep.refused_requests TO doorstep_router;

--
-- Name: TABLE revoked_attest_keys; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.revoked_attest_keys FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.revoked_attest_keys TO doorstep_owner;
GRANT SELECT,DELETE ON TABLE doorstep.revoked_attest_keys TO doorstep_app;
GRANT SELECT,INSERT ON TABLE doorstep.revoked_attest_keys TO doorstep_manager;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.revoked_attest_keys TO doorstep_admin;

--
-- Name: COLUMN revoked_attest_keys.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.revoked_attest_keys TO doorstep_router;

--
-- Name: COLUMN revoked_attest_keys.key_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(key_id) ON TABLE doorstep.revoked_attest_keys TO doorstep_router;

--
-- Name: COLUMN revoked_attest_keys.revoked_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(revoked_at) ON TABLE doorstep.revoked_attest_keys TO doorstep_router;

--
-- Name: TABLE row_counts; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.row_counts TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.row_counts TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.row_counts TO doorstep_router;

--
-- Name: TABLE schema_migrations; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.schema_migrations TO doorstep_app;
GRANT SELECT ON TABLE doorstep.schema_migrations TO doorstep_admin;

--
-- Name: TABLE servers; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.servers TO doorstep_router;

--
-- Name: COLUMN servers.seen_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(seen_at) ON TABLE doorstep.servers TO doorstep_router;

--
-- Name: COLUMN servers.ended_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(ended_at) ON TABLE doorstep.servers TO doorstep_router;

--
-- Name: TABLE short_codes; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.short_codes FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.short_codes TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.short_codes TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.short_codes TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.short_codes TO doorstep_manager;

--
-- Name: COLUMN short_codes.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.short_codes TO doorstep_router;

--
-- Name: COLUMN short_codes.code; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(code) ON TABLE doorstep.short_codes TO doorstep_router;

--
-- Name: COLUMN short_codes.url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(url) ON TABLE doorstep.short_codes TO doorstep_admin;
GRANT SELECT(url) ON TABLE doorstep.short_codes TO doorstep_router;
GRANT UPDATE(url) ON TABLE doorstep.short_codes TO doorstep_manager;

--
-- Name: TABLE tenant_usage; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.tenant_usage TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.tenant_usage TO doorstep_manager;
GRANT SELECT ON TABLE doorstep.tenant_usage TO doorstep_router;

--
-- Name: TABLE tenants; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

REVOKE ALL ON TABLE doorstep.tenants FROM doorstep_owner;
GRANT SELECT,INSERT,REFERENCES,DELETE,TRIGGER,UPDATE ON TABLE doorstep.tenants TO doorstep_owner;
GRANT SELECT ON TABLE doorstep.tenants TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.tenants TO doorstep_manager;

--
-- Name: COLUMN tenants.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.slug; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(slug) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(name) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT UPDATE(name) ON TABLE doorstep.tenants TO doorstep_manager;
GRANT SELECT(name) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.suspended_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(suspended_at) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(suspended_at) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.key_rate; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(key_rate) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(key_rate) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.key_burst; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(key_burst) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(key_burst) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.client_rate; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(client_rate) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(client_rate) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.client_burst; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(client_burst) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(client_burst) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.collapse_policy; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(collapse_policy) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT UPDATE(collapse_policy) ON TABLE doorstep.tenants TO doorstep_manager;

--
-- Name: COLUMN tenants.new_instance_rate; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(new_instance_rate) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(new_instance_rate) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.new_instance_burst; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(new_instance_burst) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(new_instance_burst) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.client_new_instance_rate; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(client_new_instance_rate) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(client_new_instance_rate) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.client_new_instance_burst; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(client_new_instance_burst) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(client_new_instance_burst) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.quotas; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(quotas) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT SELECT(quotas) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: COLUMN tenants.cors_origins; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(cors_origins) ON TABLE doorstep.tenants TO doorstep_admin;
GRANT UPDATE(cors_origins) ON TABLE doorstep.tenants TO doorstep_manager;
GRANT SELECT(cors_origins) ON TABLE doorstep.tenants TO doorstep_router;

--
-- Name: TABLE token_secrets; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,DELETE ON TABLE doorstep.token_secrets TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.token_secrets TO doorstep_router;

--
-- Name: TABLE webhook_messages; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhook_messages TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhook_messages TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhook_messages TO doorstep_manager;

--
-- Name: COLUMN webhook_messages.tenant_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(tenant_id) ON TABLE doorstep.webhook_messages TO doorstep_router;

--
-- Name: COLUMN webhook_messages.due_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(due_at) ON TABLE doorstep.webhook_messages TO doorstep_app;
GRANT SELECT(due_at) ON TABLE doorstep.webhook_messages TO doorstep_router;
GRANT UPDATE(due_at) ON TABLE doorstep.webhook_messages TO doorstep_admin;
GRANT UPDATE(due_at) ON TABLE doorstep.webhook_messages TO doorstep_manager;

--
-- Name: COLUMN webhook_messages.attempt; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(attempt) ON TABLE doorstep.webhook_messages TO doorstep_app;
GRANT UPDATE(attempt) ON TABLE doorstep.webhook_messages TO doorstep_admin;
GRANT UPDATE(attempt) ON TABLE doorstep.webhook_messages TO doorstep_manager;

--
-- Name: COLUMN webhook_messages.created_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(created_at) ON TABLE doorstep.webhook_messages TO doorstep_router;

--
-- Name: COLUMN webhook_messages.webhook_id; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT(webhook_id) ON TABLE doorstep.webhook_messages TO doorstep_router;

--
-- Name: COLUMN webhook_messages.state; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(state) ON TABLE doorstep.webhook_messages TO doorstep_app;
GRANT UPDATE(state) ON TABLE doorstep.webhook_messages TO doorstep_admin;
GRANT UPDATE(state) ON TABLE doorstep.webhook_messages TO doorstep_manager;

--
-- Name: COLUMN webhook_messages.queued_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(queued_at) ON TABLE doorstep.webhook_messages TO doorstep_admin;
GRANT UPDATE(queued_at) ON TABLE doorstep.webhook_messages TO doorstep_manager;

--
-- Name: COLUMN webhook_messages.attempts; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(attempts) ON TABLE doorstep.webhook_messages TO doorstep_app;

--
-- Name: TABLE webhook_responses; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhook_responses TO doorstep_app;
GRANT SELECT ON TABLE doorstep.webhook_responses TO doorstep_admin;
GRANT SELECT ON TABLE doorstep.webhook_responses TO doorstep_manager;

--
-- Name: TABLE webhooks; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT SELECT ON TABLE doorstep.webhooks TO doorstep_app;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT SELECT,INSERT,DELETE ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.url; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(url) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(url) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.sealed_secret; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(sealed_secret) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(sealed_secret) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.secret_changed_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(secret_changed_at) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(secret_changed_at) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.events; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(events) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(events) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.failing_since; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(failing_since) ON TABLE doorstep.webhooks TO doorstep_app;
GRANT UPDATE(failing_since) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(failing_since) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.disabled_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(disabled_at) ON TABLE doorstep.webhooks TO doorstep_app;
GRANT UPDATE(disabled_at) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(disabled_at) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.disabled_reason; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(disabled_reason) ON TABLE doorstep.webhooks TO doorstep_app;
GRANT UPDATE(disabled_reason) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(disabled_reason) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.previous_sealed_secret; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(previous_sealed_secret) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(previous_sealed_secret) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.previous_secret_ends_at; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(previous_secret_ends_at) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(previous_secret_ends_at) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- Name: COLUMN webhooks.name; Type: ACL; Schema: doorstep; Owner: doorstep_owner
--

GRANT UPDATE(name) ON TABLE doorstep.webhooks TO doorstep_admin;
GRANT UPDATE(name) ON TABLE doorstep.webhooks TO doorstep_manager;

--
-- PostgreSQL database dump complete
--

