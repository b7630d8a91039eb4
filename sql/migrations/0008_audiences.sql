-- Notifications that lead where only a default experience is, deliveries that lead where their instance was launched, and
-- audiences that are taken in part by part.

ALTER TABLE doorstep.notifications
    ADD COLUMN experience_kind text COLLATE "C" NOT NULL DEFAULT 'advanced',
    -- How many of those who were skipped have no delivery of their own, by the reason.
    ADD COLUMN skipped jsonb NOT NULL DEFAULT '{}',
    ADD CONSTRAINT notifications_experience_kind CHECK (experience_kind IN ('default', 'advanced', 'demo'));

ALTER TABLE doorstep.deliveries
    -- The URL by which the instance was launched, where that is of another experience than the notification's own target;
    -- NULL for that one.
    ADD COLUMN target text COLLATE "C",
    ADD CONSTRAINT deliveries_target_length CHECK (octet_length(target) BETWEEN 1 AND 2048);

-- Who was there when a notification was asked for is still to be told when its audience is looked at later, and after more
-- launches: so of each launch it is kept when it was reported, and of those that follow within 8 hours, the first.
ALTER TABLE doorstep.launches ADD COLUMN present_since timestamptz NOT NULL DEFAULT now();

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

REVOKE ALL ON FUNCTION doorstep.renew_presence() FROM PUBLIC;

-- Audiences are gone through in the order of these, from where the part before ended.
DROP INDEX doorstep.launches_location, doorstep.launches_experience, doorstep.launches_url;
CREATE INDEX launches_location ON doorstep.launches (tenant_id, location_identifier, launched_at, instance_id)
    WHERE location_identifier IS NOT NULL;
CREATE INDEX launches_experience ON doorstep.launches (tenant_id, experience_url, launched_at, instance_id)
    WHERE experience_url IS NOT NULL;
CREATE INDEX launches_url ON doorstep.launches (tenant_id, url, instance_id) WHERE url IS NOT NULL;

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

ALTER TABLE doorstep.audience_cursors ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.audience_cursors FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.audience_cursors
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
-- Whose audiences are still to be taken in.
CREATE POLICY router_reads ON doorstep.audience_cursors FOR SELECT TO doorstep_router USING (true);

GRANT SELECT, INSERT, DELETE ON doorstep.audience_cursors TO doorstep_app;
GRANT UPDATE (due_at, launched_at, url, instance_id, delivery_count) ON doorstep.audience_cursors TO doorstep_app;
GRANT UPDATE (skipped) ON doorstep.notifications TO doorstep_app;
GRANT SELECT, DELETE ON doorstep.audience_cursors TO doorstep_admin;
GRANT SELECT (tenant_id, due_at) ON doorstep.audience_cursors TO doorstep_router;
