-- What requests bring of App Attest, counted by the day; and what finds those keys that are over.

-- Counts ---------------------------------------------------------------------------------------------------------

-- Of clips that monitor or require: before a clip requires, enough must have held. Never by which key. The rows are written by
-- the server, so that the table is not audited.
CREATE TABLE doorstep.attestation_days (
    tenant_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    day date NOT NULL,
    -- How many requests brought a token that holds, how many were signed, and how many brought nothing that holds.
    by_token bigint NOT NULL,
    signed bigint NOT NULL,
    not_attested bigint NOT NULL,
    PRIMARY KEY (tenant_id, bundle_id, operation, day),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips ON DELETE CASCADE,
    CONSTRAINT attestation_days_operation CHECK (operation IN ('look_up', 'confirm', 'register')),
    CONSTRAINT attestation_days_counts CHECK (by_token >= 0 AND signed >= 0 AND not_attested >= 0)
) WITH (fillfactor = 70);

-- What is old is pruned. With a condition that is always so, as in the first migration.
CREATE INDEX attestation_days_day ON doorstep.attestation_days (tenant_id, day) WHERE day IS NOT NULL;

ALTER TABLE doorstep.attestation_days ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.attestation_days FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.attestation_days
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.attestation_days FOR SELECT TO doorstep_router USING (true);

GRANT SELECT (tenant_id, day) ON doorstep.attestation_days TO doorstep_router;
GRANT SELECT, INSERT, DELETE ON doorstep.attestation_days TO doorstep_app;
GRANT UPDATE (by_token, signed, not_attested) ON doorstep.attestation_days TO doorstep_app;
GRANT SELECT ON doorstep.attestation_days TO doorstep_manager;
GRANT SELECT, DELETE ON doorstep.attestation_days TO doorstep_admin;

-- Keys -----------------------------------------------------------------------------------------------------------

-- What is not used any more is pruned, and at last that it was revoked. Within a day no use of a key changes its place here.
CREATE INDEX attest_keys_last_used_on ON doorstep.attest_keys (tenant_id, last_used_on) WHERE last_used_on IS NOT NULL;

CREATE POLICY router_reads ON doorstep.attest_keys FOR SELECT TO doorstep_router USING (true);
GRANT SELECT (tenant_id, last_used_on) ON doorstep.attest_keys TO doorstep_router;
GRANT DELETE ON doorstep.attest_keys TO doorstep_app;

GRANT SELECT (revoked_at) ON doorstep.revoked_attest_keys TO doorstep_router;
GRANT DELETE ON doorstep.revoked_attest_keys TO doorstep_app;

-- Instances ------------------------------------------------------------------------------------------------------

-- How many a key has, of which there is a limit.
CREATE INDEX instances_attest_key ON doorstep.instances (tenant_id, attest_key_id) WHERE attest_key_id IS NOT NULL;

-- Connections to App Store Connect -------------------------------------------------------------------------------

-- A key that deletes a clip is told that the sealed key goes with it, whose name in the audit log is the one that Apple gave it.
GRANT SELECT (tenant_id, bundle_id, key_id) ON doorstep.app_store_connections TO doorstep_manager;
GRANT DELETE ON doorstep.app_store_connections TO doorstep_manager;
