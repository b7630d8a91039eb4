-- Quotas: how many rows and bytes a tenant may store, by kind and in total.
--
-- Usage is counted by triggers. Each statement adds what it changes to a setting of its transaction, and a deferred trigger adds the
-- sum to the tenant's usage at COMMIT, where it refuses what exceeds a quota. So a transaction locks the usage as its last step: it
-- holds the lock for no longer than its COMMIT, and writers cannot deadlock over it.

-- The quotas of tenants that have none of their own. NULL: no limit.
CREATE TABLE doorstep.quota_defaults (
    kind text COLLATE "C" PRIMARY KEY,
    maximum_rows bigint,
    maximum_bytes bigint
);

INSERT INTO doorstep.quota_defaults (kind, maximum_rows, maximum_bytes) VALUES
    ('channels', 100000, NULL),
    ('clips', 1000, NULL),
    ('domains', 1000, NULL),
    ('experiences', 1000000, 1073741824),
    ('images', 10000, 10737418240),
    ('keys', 10000, NULL),
    ('locations', 1000000, 1073741824),
    ('short_codes', 1000000, 1073741824),
    ('total', NULL, 12884901888);

GRANT SELECT ON doorstep.quota_defaults TO doorstep_admin, doorstep_manager, doorstep_router;
GRANT UPDATE (maximum_rows, maximum_bytes) ON doorstep.quota_defaults TO doorstep_admin;

-- The tenant's own quotas, such as {"locations": {"rows": 5000}}. The defaults apply to the rest.
ALTER TABLE doorstep.tenants
    ADD COLUMN quotas jsonb DEFAULT '{}' NOT NULL CONSTRAINT tenants_quotas_is_object CHECK (jsonb_typeof(quotas) = 'object');

GRANT UPDATE (quotas) ON doorstep.tenants TO doorstep_admin;
GRANT SELECT (quotas) ON doorstep.tenants TO doorstep_router;

-- A row for each kind, and the row `total` with their sum.
CREATE TABLE doorstep.tenant_usage (
    tenant_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    row_count bigint DEFAULT 0 NOT NULL,
    byte_count bigint DEFAULT 0 NOT NULL,
    PRIMARY KEY (tenant_id, kind),
    FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants ON DELETE CASCADE
) WITH (fillfactor = 50);

ALTER TABLE doorstep.tenant_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.tenant_usage
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY admin_lists_usage ON doorstep.tenant_usage FOR SELECT TO doorstep_admin USING (true);
CREATE POLICY router_reads ON doorstep.tenant_usage FOR SELECT TO doorstep_router USING (true);
GRANT SELECT ON doorstep.tenant_usage TO doorstep_admin, doorstep_manager, doorstep_router;

-- Empty but for the rows of transactions that are about to end: inserting one defers `settle_usage` to the COMMIT.
CREATE UNLOGGED TABLE doorstep.usage_settlements (
    settlement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);

-- The quotas of tenants, with what they use.
CREATE FUNCTION doorstep.tenant_quotas(of_tenant uuid) RETURNS TABLE (
    kind text, row_count bigint, byte_count bigint, maximum_rows bigint, maximum_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT u.kind, u.row_count, u.byte_count,
        coalesce((t.quotas -> u.kind ->> 'rows')::bigint, d.maximum_rows),
        coalesce((t.quotas -> u.kind ->> 'bytes')::bigint, d.maximum_bytes)
    FROM doorstep.tenant_usage u JOIN doorstep.tenants t USING (tenant_id) JOIN doorstep.quota_defaults d ON d.kind = u.kind
    WHERE u.tenant_id = of_tenant
$$;

-- Arguments: the kind, the bytes of a row as an SQL expression, and the condition of rows that count. All rows' bytes count.
CREATE FUNCTION doorstep.count_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counted jsonb := nullif(current_setting('doorstep.counted_usage', true), '')::jsonb;
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
    IF added = removed THEN
        RETURN NULL;
    END IF;
    IF counted IS NULL THEN
        counted := '{}';
        INSERT INTO doorstep.usage_settlements DEFAULT VALUES;
    END IF;
    PERFORM set_config('doorstep.counted_usage', (counted || jsonb_build_object(TG_ARGV[0], jsonb_build_array(
        coalesce((counted -> TG_ARGV[0] ->> 0)::bigint, 0) + added[1] - removed[1],
        coalesce((counted -> TG_ARGV[0] ->> 1)::bigint, 0) + added[2] - removed[2])))::text, true);
    RETURN NULL;
END
$$;

-- Deferred to the COMMIT, once for each transaction that has changed a usage.
CREATE FUNCTION doorstep.settle_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counted jsonb := nullif(current_setting('doorstep.counted_usage', true), '')::jsonb;
    tenant uuid := doorstep.current_tenant_id();
    excess jsonb;
BEGIN
    DELETE FROM doorstep.usage_settlements WHERE settlement_id = NEW.settlement_id;
    counted := counted || (
        SELECT jsonb_build_object('total', jsonb_build_array(sum((value ->> 0)::bigint), sum((value ->> 1)::bigint)))
        FROM jsonb_each(counted));
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

CREATE CONSTRAINT TRIGGER settle_usage AFTER INSERT ON doorstep.usage_settlements
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION doorstep.settle_usage();

CREATE FUNCTION doorstep.begin_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO doorstep.tenant_usage (tenant_id, kind) SELECT NEW.tenant_id, kind FROM doorstep.quota_defaults;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION
    doorstep.tenant_quotas(uuid), doorstep.count_usage(), doorstep.settle_usage(), doorstep.begin_usage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.tenant_quotas(uuid) TO doorstep_admin, doorstep_manager, doorstep_router;

CREATE TRIGGER begin_usage AFTER INSERT ON doorstep.tenants FOR EACH ROW EXECUTE FUNCTION doorstep.begin_usage();

-- The triggers first: they lock the tables against changes, so that none is missed between the count and the end of this migration.
DO $do$
DECLARE
    counted record;
    condition text;
BEGIN
    ALTER TABLE doorstep.tenants NO FORCE ROW LEVEL SECURITY;
    INSERT INTO doorstep.tenant_usage (tenant_id, kind) SELECT tenant_id, kind FROM doorstep.tenants, doorstep.quota_defaults;
    ALTER TABLE doorstep.tenants FORCE ROW LEVEL SECURITY;
    FOR counted IN SELECT * FROM (VALUES
        ('channels', 'channels', 'octet_length(concat(bundle_id, environment, channel_id))'),
        ('clips', 'clips', 'octet_length(concat(bundle_id, parent_bundle_id, team_id, app_id_prefix, attestation, app_store_id, '
            'android_url, site_name, card, card_image))'),
        ('domains', 'domains', 'octet_length(concat(host, content))'),
        ('experiences', 'experiences', 'octet_length(concat(kind, url, bundle_id, location_identifier, identifier_rule, title, '
            'subtitle, card, card_image))'),
        ('images', 'card_images', 'byte_count'),
        ('keys', 'api_keys', 'octet_length(concat(kind, hint, scopes, locations))'),
        ('locations', 'locations', 'octet_length(concat(identifier, name, metadata, details, card, card_image))'),
        ('short_codes', 'short_codes', 'octet_length(concat(code, url))')) AS v (kind, relation, size)
    LOOP
        -- A revoked key stays, so that the audit log can name it, and leaves room for another one.
        condition := CASE counted.kind WHEN 'keys' THEN 'revoked_at IS NULL' ELSE 'true' END;
        EXECUTE format(
            'CREATE TRIGGER count_usage_insert AFTER INSERT ON doorstep.%1$I REFERENCING NEW TABLE AS new_rows
                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(%2$L, %3$L, %4$L);
             CREATE TRIGGER count_usage_update AFTER UPDATE ON doorstep.%1$I
                REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(%2$L, %3$L, %4$L);
             CREATE TRIGGER count_usage_delete AFTER DELETE ON doorstep.%1$I REFERENCING OLD TABLE AS old_rows
                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(%2$L, %3$L, %4$L);
             ALTER TABLE doorstep.%1$I NO FORCE ROW LEVEL SECURITY;
             UPDATE doorstep.tenant_usage u SET row_count = c.row_count, byte_count = c.byte_count
             FROM (SELECT tenant_id, count(*) FILTER (WHERE %4$s) AS row_count, sum(%3$s) AS byte_count FROM doorstep.%1$I GROUP BY tenant_id) c
             WHERE u.tenant_id = c.tenant_id AND u.kind = %2$L;
             ALTER TABLE doorstep.%1$I FORCE ROW LEVEL SECURITY',
            counted.relation, counted.kind, counted.size, condition);
    END LOOP;
    UPDATE doorstep.tenant_usage u SET row_count = c.row_count, byte_count = c.byte_count
    FROM (SELECT tenant_id, sum(row_count) AS row_count, sum(byte_count) AS byte_count FROM doorstep.tenant_usage
        WHERE kind <> 'total' GROUP BY tenant_id) c
    WHERE u.tenant_id = c.tenant_id AND u.kind = 'total';

    -- A tenant that stores more than a default gets a quota of its own, so that this migration stops nobody's work.
    ALTER TABLE doorstep.tenants NO FORCE ROW LEVEL SECURITY;
    UPDATE doorstep.tenants t SET quotas = q.quotas
    FROM (
        SELECT u.tenant_id, jsonb_object_agg(kind, jsonb_strip_nulls(jsonb_build_object(
            'rows', CASE WHEN u.row_count > d.maximum_rows THEN 2 * u.row_count END,
            'bytes', CASE WHEN u.byte_count > d.maximum_bytes THEN 2 * u.byte_count END))) AS quotas
        FROM doorstep.tenant_usage u JOIN doorstep.quota_defaults d USING (kind)
        WHERE u.row_count > d.maximum_rows OR u.byte_count > d.maximum_bytes
        GROUP BY u.tenant_id) q
    WHERE t.tenant_id = q.tenant_id;
    ALTER TABLE doorstep.tenants FORCE ROW LEVEL SECURITY;
END
$do$;

ALTER TABLE doorstep.tenant_usage FORCE ROW LEVEL SECURITY;
