-- A day stays while something of it may still be sent. What is past its end keeps no day, whether that was recorded or not: what
-- a suspended tenant has queued stays queued, and kept everybody's notifications of that day for as long as it was suspended.

-- Drops the oldest day that ended longer ago than so many days and of which nothing may still be sent; returns how many, 0 or 1.
--
-- A day is locked before it is looked at: what is put back into it meanwhile would go with it. In the order in which those
-- who read lock the two; and who maintains gives way before they have to. One at a time, since to drop a day holds up all others
-- until the transaction ends.
CREATE OR REPLACE FUNCTION doorstep.drop_notification_days(retention integer) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '500ms'
    AS $$
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
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$$;
