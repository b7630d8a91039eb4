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
            ('tenants', '', 'suspended_at'),
            ('clips', 'bundle_id', 'multi_business'),
            ('locations', 'identifier', 'name, latitude, longitude, radius'),
            ('experiences', 'kind, url', 'bundle_id, location_identifier, identifier_rule'),
            ('short_codes', 'code', 'url'),
            ('api_keys', 'key_id', 'digest, expires_at, revoked_at')
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

-- Isolation ---------------------------------------------------------------------------------------------------

ALTER TABLE doorstep.changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.changes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.changes
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.changes FOR SELECT TO doorstep_router USING (true);
-- For the function above.
CREATE POLICY owner_prunes ON doorstep.changes FOR DELETE TO doorstep_owner USING (at < now() - interval '1 hour');
CREATE POLICY owner_finds_what_to_prune ON doorstep.changes FOR SELECT TO doorstep_owner
    USING (at < now() - interval '1 hour');

-- Keys travel with the rest: a server knows them all by their digests, and asks the database about none.
CREATE POLICY router_reads ON doorstep.api_keys FOR SELECT TO doorstep_router USING (true);
DROP FUNCTION doorstep.authenticate(bytea);
DROP POLICY owner_authenticates ON doorstep.api_keys;
DROP POLICY owner_authenticates ON doorstep.tenants;

-- Privileges --------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION doorstep.record_routing_change(), doorstep.prune_changes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.prune_changes() TO doorstep_router;
GRANT SELECT ON doorstep.changes, doorstep.change_horizon TO doorstep_router;
GRANT SELECT (tenant_id, key_id, kind, digest, expires_at, revoked_at) ON doorstep.api_keys TO doorstep_router;
