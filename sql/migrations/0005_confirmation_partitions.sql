-- Confirmations are kept for so long and no longer: they are partitioned by the day (UTC) of their minute, so that a
-- day's are dropped at once, which costs nothing however many they are, and leaves no dead rows.
--
-- What is recorded for a day that has no partition goes to the default one, and moves when the day gets its own:
-- whatever happens to the program that makes partitions, no confirmation is refused.

-- The table that was there becomes the default partition: nothing is copied here.
ALTER TABLE doorstep.confirmations RENAME TO confirmations_default;
DROP TRIGGER require_tenant ON doorstep.confirmations_default;
REVOKE ALL ON doorstep.confirmations_default FROM doorstep_app, doorstep_admin;

-- The key of a partitioned table holds what it is partitioned by. In this order it also lists a tenant's confirmations
-- by time, and still grows at one end for each tenant.
ALTER TABLE doorstep.confirmations_default DROP CONSTRAINT confirmations_pkey;
ALTER TABLE doorstep.confirmations_default
    ADD CONSTRAINT confirmations_default_pkey PRIMARY KEY (tenant_id, minute, confirmation_id);

CREATE TABLE doorstep.confirmations (LIKE doorstep.confirmations_default INCLUDING CONSTRAINTS)
    PARTITION BY RANGE (minute);
ALTER TABLE doorstep.confirmations
    ADD CONSTRAINT confirmations_pkey PRIMARY KEY (tenant_id, minute, confirmation_id);
ALTER TABLE doorstep.confirmations ATTACH PARTITION doorstep.confirmations_default DEFAULT;

CREATE TRIGGER require_tenant AFTER INSERT ON doorstep.confirmations
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.require_confirmed_tenant();

-- Isolation ---------------------------------------------------------------------------------------------------

-- Nobody but the owner has a right to a partition itself, and there the same policy holds as on the whole.
ALTER TABLE doorstep.confirmations ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.confirmations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.confirmations
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));

-- For the function below, which moves every tenant's rows out of the default partition.
CREATE POLICY owner_finds_what_to_move ON doorstep.confirmations_default FOR SELECT TO doorstep_owner USING (true);
CREATE POLICY owner_moves ON doorstep.confirmations_default FOR DELETE TO doorstep_owner USING (true);

-- Days --------------------------------------------------------------------------------------------------------

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

-- Privileges --------------------------------------------------------------------------------------------------

GRANT INSERT ON doorstep.confirmations TO doorstep_app;
GRANT SELECT, DELETE ON doorstep.confirmations TO doorstep_admin;

-- The role that sees no confirmation looks after their days.
REVOKE ALL ON FUNCTION doorstep.confirmation_days(), doorstep.add_confirmation_days(),
    doorstep.drop_confirmation_days(integer), doorstep.index_confirmation_days() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION doorstep.add_confirmation_days(), doorstep.drop_confirmation_days(integer),
    doorstep.index_confirmation_days() TO doorstep_router;
