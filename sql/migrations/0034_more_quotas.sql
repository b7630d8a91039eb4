-- Quotas of instances, deliveries and the audit log, and an end for revoked keys.

-- PostgreSQL reads the experiences of a clip when the clip is deleted; so does a list of one clip's experiences.
CREATE INDEX experiences_clip ON doorstep.experiences (tenant_id, bundle_id);

-- The triggers first: they lock the table against changes, so that the count below misses none. Neither the rows nor the bytes of revoked keys count.
CREATE OR REPLACE TRIGGER count_usage_insert AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations)) ELSE 0 END', 'revoked_at IS NULL');
CREATE OR REPLACE TRIGGER count_usage_update AFTER UPDATE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations)) ELSE 0 END', 'revoked_at IS NULL');
CREATE OR REPLACE TRIGGER count_usage_delete AFTER DELETE ON doorstep.api_keys REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations)) ELSE 0 END', 'revoked_at IS NULL');

-- Servers delete keys that were revoked long ago. The restrictive policy keeps all other keys.
CREATE INDEX api_keys_revoked_at ON doorstep.api_keys (tenant_id, revoked_at) WHERE revoked_at IS NOT NULL;
GRANT SELECT (revoked_at), DELETE ON doorstep.api_keys TO doorstep_app;
CREATE POLICY app_prunes ON doorstep.api_keys AS RESTRICTIVE FOR DELETE TO doorstep_app
    USING (revoked_at < now() - interval '30 days');

-- The bytes that an entry counts for in the quota; NULL if it does not count. An entry's stored size depends on its compression.
ALTER TABLE doorstep.audit_log ADD COLUMN byte_count integer;
CREATE INDEX audit_log_counted ON doorstep.audit_log (tenant_id, entry_id) WHERE byte_count IS NOT NULL;

-- The numbers of a tenant's instances and deliveries. Each connection adds to one of several rows, so that transactions of a tenant
-- rarely wait for each other. Deliveries are counted by day, because they are deleted by day.
CREATE TABLE doorstep.row_counts (
    tenant_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    -- The UTC day of deliveries, or `-infinity`.
    counted_on date NOT NULL,
    shard smallint NOT NULL,
    row_count bigint NOT NULL,
    PRIMARY KEY (tenant_id, kind, counted_on, shard),
    FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants ON DELETE CASCADE
) WITH (fillfactor = 50);

ALTER TABLE doorstep.row_counts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.row_counts
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY admin_lists_usage ON doorstep.row_counts FOR SELECT TO doorstep_admin USING (true);
CREATE POLICY router_reads ON doorstep.row_counts FOR SELECT TO doorstep_router USING (true);
-- For `drop_notification_days`.
CREATE POLICY owner_finds_what_to_prune ON doorstep.row_counts FOR SELECT TO doorstep_owner
    USING (kind = 'deliveries' AND counted_on < CURRENT_DATE);
CREATE POLICY owner_prunes ON doorstep.row_counts FOR DELETE TO doorstep_owner
    USING (kind = 'deliveries' AND counted_on < CURRENT_DATE);
GRANT SELECT ON doorstep.row_counts TO doorstep_admin, doorstep_manager, doorstep_router;

INSERT INTO doorstep.quota_defaults (kind, maximum_rows, maximum_bytes) VALUES
    ('audit_log', NULL, 10737418240),
    ('deliveries', 100000000, NULL),
    ('instances', 1000000, NULL);

-- Counts the inserted or deleted rows of a table, and refuses an INSERT that exceeds the quota. Transactions do not see the rows of
-- others that have not committed: a few that run at the same time can exceed the quota together, once.
CREATE FUNCTION doorstep.count_rows() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

-- Adds to the usage that `settle_usage` checks and stores at COMMIT.
CREATE FUNCTION doorstep.add_usage(of_kind text, added_rows bigint, added_bytes bigint) RETURNS void
LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION doorstep.count_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

-- The audit log is not part of the total.
CREATE OR REPLACE FUNCTION doorstep.settle_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE OR REPLACE FUNCTION doorstep.tenant_quotas(of_tenant uuid) RETURNS TABLE (
    kind text, row_count bigint, byte_count bigint, maximum_rows bigint, maximum_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
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

-- Counts the bytes of entries. Deletions, changes for a deletion (`doorstep.deleting`), revocations, changes of the tenant, and changes
-- by the server itself do not count, so that a tenant whose log is full can still delete items and revoke keys.
CREATE OR REPLACE FUNCTION doorstep.record_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $_$
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

-- Subtracts deleted entries from the usage.
CREATE OR REPLACE FUNCTION doorstep.prune_audit_log(retention integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

-- If a tenant's audit log uses more than 80 % of a quota, deletes up to a thousand of the oldest entries that count, and none of the last
-- seven days.
CREATE FUNCTION doorstep.trim_audit_log(of_tenant uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

REVOKE ALL ON FUNCTION doorstep.count_rows(), doorstep.add_usage(text, bigint, bigint), doorstep.trim_audit_log(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.trim_audit_log(uuid) TO doorstep_router;

-- Also deletes the counts of the dropped days.
CREATE OR REPLACE FUNCTION doorstep.drop_notification_days(retention integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '500ms' AS $_$
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

CREATE TRIGGER count_rows_insert AFTER INSERT ON doorstep.deliveries REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();
CREATE TRIGGER count_rows_insert AFTER INSERT ON doorstep.instances REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();
CREATE TRIGGER count_rows_delete AFTER DELETE ON doorstep.instances REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_rows();

-- Counts the instances that exist. Deliveries and entries of the audit log from before this migration do not count: large tables are not read.
ALTER TABLE doorstep.instances NO FORCE ROW LEVEL SECURITY;
INSERT INTO doorstep.row_counts (tenant_id, kind, counted_on, shard, row_count)
SELECT tenant_id, 'instances', date '-infinity', 0, count(*) FROM doorstep.instances GROUP BY tenant_id;
ALTER TABLE doorstep.instances FORCE ROW LEVEL SECURITY;

-- Counts the keys again: besides revoked keys, migration 25 left the bytes of renamed scopes wrong.
ALTER TABLE doorstep.api_keys NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.tenant_usage NO FORCE ROW LEVEL SECURITY;
UPDATE doorstep.tenant_usage u SET (row_count, byte_count) = (
    SELECT count(*), coalesce(sum(octet_length(concat(kind, hint, scopes, locations))), 0)
    FROM doorstep.api_keys k WHERE k.tenant_id = u.tenant_id AND revoked_at IS NULL)
WHERE kind = 'keys';
UPDATE doorstep.tenant_usage u SET (row_count, byte_count) = (
    SELECT sum(row_count), sum(byte_count) FROM doorstep.tenant_usage o WHERE o.tenant_id = u.tenant_id AND o.kind <> 'total')
WHERE kind = 'total';
INSERT INTO doorstep.tenant_usage (tenant_id, kind)
SELECT tenant_id, k FROM doorstep.tenant_usage, unnest(ARRAY['audit_log', 'deliveries', 'instances']) AS k WHERE kind = 'total';
ALTER TABLE doorstep.api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.tenant_usage FORCE ROW LEVEL SECURITY;

-- A tenant with more instances than the default gets a quota of its own, so that this migration refuses no registration.
DO $$
DECLARE
    above record;
BEGIN
    PERFORM set_config('doorstep.actor', 'migration:34', true);
    FOR above IN
        SELECT c.tenant_id, c.row_count FROM doorstep.row_counts c JOIN doorstep.quota_defaults d USING (kind)
        WHERE c.row_count > d.maximum_rows
    LOOP
        PERFORM set_config('doorstep.tenant_id', above.tenant_id::text, true);
        UPDATE doorstep.tenants SET quotas = quotas || jsonb_build_object('instances', jsonb_build_object('rows', 2 * above.row_count))
        WHERE tenant_id = above.tenant_id;
    END LOOP;
    PERFORM set_config('doorstep.tenant_id', '', true), set_config('doorstep.actor', '', true);
END
$$;
ALTER TABLE doorstep.row_counts FORCE ROW LEVEL SECURITY;
