-- What the requests of a clip must bring of App Attest, the keys that devices attested, and how well confirmations were.

-- Clips ----------------------------------------------------------------------------------------------------------

-- NULL for a clip that asks for nothing. The program writes some 300 bytes.
ALTER TABLE doorstep.clips
    ADD COLUMN attestation jsonb,
    ADD CONSTRAINT clips_attestation_is_object CHECK (jsonb_typeof(attestation) = 'object'),
    ADD CONSTRAINT clips_attestation_length CHECK (octet_length(attestation::text) <= 1024);

CREATE OR REPLACE TRIGGER record_routing_update AFTER UPDATE ON doorstep.clips
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(
        'bundle_id', 'parent_bundle_id, team_id, app_id_prefix, multi_business, attestation');

GRANT UPDATE (attestation) ON doorstep.clips TO doorstep_admin, doorstep_manager;
GRANT SELECT (attestation) ON doorstep.clips TO doorstep_router;

-- Keys -----------------------------------------------------------------------------------------------------------

-- A key stands for one installation of an app. Neither its attestation nor its certificate is kept, which would tell of the
-- device, and of times no more than the day. The rows are written by the server, so that the table is not audited.
CREATE TABLE doorstep.attest_keys (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    -- SHA-256 of the public key.
    key_id bytea NOT NULL,
    -- The clip's, also when the full app goes on with the key.
    bundle_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    -- Uncompressed (SEC 1).
    public_key bytea NOT NULL,
    -- SHA-256 of the attestation, by which one that is sent again is known.
    attestation_digest bytea NOT NULL,
    -- Of the latest assertion: one that is not greater was used before.
    counter bigint NOT NULL DEFAULT 0,
    -- As devices state them, from iOS 27 on.
    category smallint,
    bundle_version text,
    attested_on date NOT NULL,
    last_used_on date NOT NULL,
    PRIMARY KEY (tenant_id, key_id),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips ON DELETE CASCADE,
    CONSTRAINT attest_keys_key_id_length CHECK (octet_length(key_id) = 32),
    CONSTRAINT attest_keys_environment CHECK (environment IN ('production', 'development')),
    CONSTRAINT attest_keys_public_key_length CHECK (octet_length(public_key) = 65),
    CONSTRAINT attest_keys_attestation_digest_length CHECK (octet_length(attestation_digest) = 32),
    CONSTRAINT attest_keys_counter_range CHECK (counter BETWEEN 0 AND 4294967295),
    CONSTRAINT attest_keys_bundle_version_length CHECK (octet_length(bundle_version) <= 255)
) WITH (fillfactor = 70);

-- For who deletes a clip; with a condition that is always so, as in the first migration.
CREATE INDEX attest_keys_clip ON doorstep.attest_keys (tenant_id, bundle_id) WHERE bundle_id <> '';

ALTER TABLE doorstep.attest_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.attest_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.attest_keys
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));

GRANT SELECT, INSERT ON doorstep.attest_keys TO doorstep_app;
GRANT UPDATE (counter, last_used_on) ON doorstep.attest_keys TO doorstep_app;
GRANT SELECT, DELETE ON doorstep.attest_keys TO doorstep_admin;

-- Confirmations --------------------------------------------------------------------------------------------------

-- 0 for none, 1 for a token, 2 for a signed request; never by which key.
ALTER TABLE doorstep.confirmations
    ADD COLUMN attestation smallint NOT NULL DEFAULT 0,
    -- What is there has the default; to look at each row would keep the table from everybody meanwhile.
    ADD CONSTRAINT confirmations_attestation CHECK (attestation BETWEEN 0 AND 2) NOT VALID;
