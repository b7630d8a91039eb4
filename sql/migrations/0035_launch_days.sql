-- Counts of lookups and launch reports by day, location, experience and source, without any person.

-- The rows are written by the server, so that the table is not audited. There are no foreign keys to locations and experiences:
-- the counts of past days remain when a location is deleted.
CREATE TABLE doorstep.launch_days (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    -- Empty if the URL leads to no location.
    location_identifier text COLLATE "C" NOT NULL,
    experience_url text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    lookups bigint NOT NULL,
    launch_reports bigint NOT NULL,
    PRIMARY KEY (tenant_id, day, location_identifier, experience_url, source),
    FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants ON DELETE CASCADE,
    CONSTRAINT launch_days_day_is_finite CHECK (isfinite(day)),
    CONSTRAINT launch_days_location_length CHECK (char_length(location_identifier) <= 128),
    CONSTRAINT launch_days_experience_url_length CHECK (octet_length(experience_url) BETWEEN 1 AND 2048),
    CONSTRAINT launch_days_source CHECK (source IN (
        'nfc', 'app_clip_code', 'qr_code', 'maps', 'messages', 'mail', 'safari', 'spotlight', 'siri', 'app', 'app_library',
        'notification', 'unknown')),
    CONSTRAINT launch_days_counts CHECK (lookups >= 0 AND launch_reports >= 0)
) WITH (fillfactor = 70);

ALTER TABLE doorstep.launch_days ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.launch_days FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.launch_days
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.launch_days FOR SELECT TO doorstep_router USING (true);

GRANT SELECT (tenant_id, day) ON doorstep.launch_days TO doorstep_router;
GRANT SELECT, INSERT, DELETE ON doorstep.launch_days TO doorstep_app;
GRANT UPDATE (lookups, launch_reports) ON doorstep.launch_days TO doorstep_app;
GRANT SELECT ON doorstep.launch_days TO doorstep_manager, doorstep_admin;
