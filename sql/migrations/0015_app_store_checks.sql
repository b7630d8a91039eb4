-- What Doorstep found when it last looked at App Store Connect: the server looks by itself from time to time, one of many for each
-- connection, and only reads there. What it found is what requests are answered from.

-- Checks ---------------------------------------------------------------------------------------------------------

CREATE TABLE doorstep.app_store_checks (
    tenant_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    -- When to look again; while somebody looks, when that counts as lost.
    due_at timestamptz NOT NULL,
    -- When it was looked last, and all was seen; NULL before the first time, like what was found.
    checked_at timestamptz,
    -- How many experiences are how, by names; for metrics.
    counts jsonb,
    summary jsonb,
    -- SHA-256 of what webhooks were told last, or would have been; NULL before the first time.
    findings_digest bytea,
    -- By its code, why nothing could be seen the last time; NULL where it could.
    failure text COLLATE "C",
    PRIMARY KEY (tenant_id, bundle_id),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.app_store_connections ON DELETE CASCADE,
    CONSTRAINT app_store_checks_found CHECK (num_nulls(checked_at, counts, summary, findings_digest) IN (0, 4)),
    CONSTRAINT app_store_checks_summary_length CHECK (octet_length(summary::text) <= 4194304),
    CONSTRAINT app_store_checks_findings_digest_length CHECK (octet_length(findings_digest) = 32),
    CONSTRAINT app_store_checks_failure_length CHECK (char_length(failure) BETWEEN 1 AND 128)
);

-- The rows of the plan that was made, but for those in step of which there is nothing to say.
CREATE TABLE doorstep.app_store_check_rows (
    tenant_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    -- The location that the experience is bound to; a restricted key sees those of its locations alone.
    location_identifier text COLLATE "C",
    row_json jsonb NOT NULL,
    PRIMARY KEY (tenant_id, bundle_id, url),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.app_store_checks ON DELETE CASCADE,
    CONSTRAINT app_store_check_rows_row_json_length CHECK (octet_length(row_json::text) <= 1048576)
);

-- Row-level security and privileges ------------------------------------------------------------------------------

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['app_store_checks', 'app_store_check_rows'] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', relation);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', relation);
        -- The server looks, and so do operators; who reads for a tenant reads what was found.
        EXECUTE format('GRANT SELECT, INSERT ON doorstep.%I TO doorstep_app, doorstep_admin', relation);
        EXECUTE format('GRANT SELECT ON doorstep.%I TO doorstep_manager', relation);
    END LOOP;
END
$$;

GRANT UPDATE (due_at, checked_at, counts, summary, findings_digest, failure)
    ON doorstep.app_store_checks TO doorstep_app, doorstep_admin;
GRANT DELETE ON doorstep.app_store_checks TO doorstep_admin;
GRANT DELETE ON doorstep.app_store_check_rows TO doorstep_app, doorstep_admin;

-- Which connections are due, of all tenants, and what is measured of them.
CREATE POLICY router_reads ON doorstep.app_store_connections FOR SELECT TO doorstep_router USING (true);
CREATE POLICY router_reads ON doorstep.app_store_checks FOR SELECT TO doorstep_router USING (true);
GRANT SELECT (tenant_id, bundle_id) ON doorstep.app_store_connections TO doorstep_router;
GRANT SELECT (tenant_id, bundle_id, due_at, checked_at, counts, failure) ON doorstep.app_store_checks TO doorstep_router;

-- To look, the server opens the key, which is sealed, reads what is remembered and who applies, and keeps the key's books. It registers nothing:
-- neither where images are uploaded to nor what was sent is its to know or to write.
GRANT SELECT (tenant_id, bundle_id, run_id, actor, started_at, ended_at) ON doorstep.app_store_runs TO doorstep_app;
GRANT SELECT ON doorstep.app_store_connections, doorstep.app_store_experiences, doorstep.app_store_removals,
    doorstep.app_store_refusals TO doorstep_app;
GRANT SELECT (tenant_id, bundle_id, sha256, holder, remote_id, phase, reserved_at)
    ON doorstep.app_store_images TO doorstep_app;
GRANT UPDATE (undesired_since) ON doorstep.app_store_experiences TO doorstep_app;
GRANT SELECT, INSERT, DELETE ON doorstep.app_store_budget TO doorstep_app;
GRANT UPDATE (spent) ON doorstep.app_store_budget TO doorstep_app;
GRANT SELECT (tenant_id, sha256, byte_count) ON doorstep.card_images TO doorstep_app;

-- Webhooks -------------------------------------------------------------------------------------------------------

ALTER TABLE doorstep.webhooks
    DROP CONSTRAINT webhooks_events,
    ADD CONSTRAINT webhooks_events CHECK (
        cardinality(events) > 0
        AND events <@ ARRAY[
            'deliveries.finished', 'location.changed', 'experience.changed', 'domain.lapsed', 'key.revoked',
            'confirmation.recorded', 'webhook.disabled', 'appstore.drift']);

-- An operator's look has webhooks told too.
GRANT INSERT ON doorstep.webhook_messages TO doorstep_admin;
