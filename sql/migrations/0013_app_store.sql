-- What Doorstep has done at App Store Connect about a clip's experiences: what it sent, what came of it, and what it may still
-- send. It outlives the clip, so that nobody takes what Doorstep made for somebody else's; it goes with the tenant.

-- Experiences ----------------------------------------------------------------------------------------------------

-- Written before a creation is sent, and again when its answer is known: a row in the phase `creating` may or may not exist at
-- Apple, and only a listing tells. Content is JSON: the card, and whether it is powered by a platform.
CREATE TABLE doorstep.app_store_experiences (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    phase text COLLATE "C" NOT NULL,
    -- Apple's; NULL while its creation is not answered.
    remote_id text COLLATE "C",
    content jsonb NOT NULL,
    sent_at timestamptz NOT NULL,
    -- Complete listings since that had not the URL.
    missing_listings smallint NOT NULL DEFAULT 0,
    -- When it was first seen that the catalogue has the URL no more.
    undesired_since timestamptz,
    PRIMARY KEY (tenant_id, bundle_id, url),
    CONSTRAINT app_store_experiences_phase CHECK (phase IN ('creating', 'created')),
    CONSTRAINT app_store_experiences_remote_id CHECK ((phase = 'created') = (remote_id IS NOT NULL)),
    CONSTRAINT app_store_experiences_remote_id_length CHECK (char_length(remote_id) BETWEEN 1 AND 256),
    CONSTRAINT app_store_experiences_content_length CHECK (octet_length(content::text) <= 131072),
    CONSTRAINT app_store_experiences_missing_listings_range CHECK (missing_listings BETWEEN 0 AND 100)
);

-- Those that are gone from Apple: a listing that still has them is stale.
CREATE TABLE doorstep.app_store_removals (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    remote_id text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    removed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, bundle_id, remote_id),
    CONSTRAINT app_store_removals_remote_id_length CHECK (char_length(remote_id) BETWEEN 1 AND 256)
);

-- What Apple refused, and as what: it is not sent again before it changes.
CREATE TABLE doorstep.app_store_refusals (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    content jsonb NOT NULL,
    -- Apple's code, and where in the request.
    code text COLLATE "C" NOT NULL,
    source text COLLATE "C",
    request_id text COLLATE "C",
    refused_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, bundle_id, url),
    CONSTRAINT app_store_refusals_content_length CHECK (octet_length(content::text) <= 131072),
    CONSTRAINT app_store_refusals_code_length CHECK (char_length(code) BETWEEN 1 AND 128)
);

-- Images ---------------------------------------------------------------------------------------------------------

-- An image at Apple. No path lists them or removes one, so that one that is not here is lost.
CREATE TABLE doorstep.app_store_images (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    bundle_id text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    -- The URL of the one experience that it is for; empty for one that serves many.
    holder text COLLATE "C" NOT NULL,
    remote_id text COLLATE "C" NOT NULL,
    phase text COLLATE "C" NOT NULL,
    -- Where its parts go, sealed: whoever knows that can upload. NULL once it is committed.
    sealed_operations bytea,
    reserved_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, bundle_id, sha256, holder),
    CONSTRAINT app_store_images_sha256_form CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT app_store_images_phase CHECK (phase IN ('reserved', 'committed', 'complete', 'failed')),
    CONSTRAINT app_store_images_sealed_operations CHECK ((phase = 'reserved') = (sealed_operations IS NOT NULL)),
    CONSTRAINT app_store_images_sealed_operations_length CHECK (octet_length(sealed_operations) BETWEEN 33 AND 1048576),
    CONSTRAINT app_store_images_remote_id_length CHECK (char_length(remote_id) BETWEEN 1 AND 256)
);

-- Runs and budget ------------------------------------------------------------------------------------------------

-- Who applied when. The newest of a clip alone may write: one that lost the lock that it held finds itself ended.
CREATE TABLE doorstep.app_store_runs (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    run_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    actor text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- How it ended; `abandoned` where another run found it.
    outcome text COLLATE "C",
    PRIMARY KEY (tenant_id, run_id),
    CONSTRAINT app_store_runs_outcome CHECK (outcome IN ('done', 'failed', 'abandoned')),
    CONSTRAINT app_store_runs_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);

CREATE INDEX app_store_runs_clip ON doorstep.app_store_runs (tenant_id, bundle_id, started_at);

-- Requests of a key by the minute in which they were set aside, before they were sent.
CREATE TABLE doorstep.app_store_budget (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    key_id text COLLATE "C" NOT NULL,
    minute timestamptz NOT NULL,
    spent integer NOT NULL,
    PRIMARY KEY (tenant_id, key_id, minute),
    CONSTRAINT app_store_budget_spent_range CHECK (spent BETWEEN 0 AND 10000000)
);

-- Row-level security and privileges ------------------------------------------------------------------------------

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY[
        'app_store_experiences', 'app_store_removals', 'app_store_refusals', 'app_store_images', 'app_store_runs',
        'app_store_budget'
    ] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', relation);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', relation);
        -- Operators alone register; to delete is for what is settled, for what is old, and for a tenant that goes.
        EXECUTE format('GRANT SELECT, INSERT, DELETE ON doorstep.%I TO doorstep_admin', relation);
    END LOOP;
END
$$;

GRANT UPDATE (phase, remote_id, content, sent_at, missing_listings, undesired_since)
    ON doorstep.app_store_experiences TO doorstep_admin;
GRANT UPDATE (content, code, source, request_id, refused_at) ON doorstep.app_store_refusals TO doorstep_admin;
GRANT UPDATE (remote_id, phase, sealed_operations, reserved_at) ON doorstep.app_store_images TO doorstep_admin;
GRANT UPDATE (ended_at, outcome) ON doorstep.app_store_runs TO doorstep_admin;
GRANT UPDATE (spent) ON doorstep.app_store_budget TO doorstep_admin;
