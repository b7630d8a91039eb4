-- Every POST that creates something is carried out once for each idempotency key, and its response is stored for repetitions.
-- A notification is still stored in one transaction with its key, and has no claim.
ALTER TABLE doorstep.idempotency_keys
    ALTER COLUMN notification_id DROP NOT NULL,
    -- The attempt that may carry out the request.
    ADD COLUMN claim_id uuid,
    -- Until when this attempt counts as running.
    ADD COLUMN claimed_until timestamptz,
    -- Set by the transaction that creates.
    ADD COLUMN performed_at timestamptz,
    -- Sealed with a key that is derived from the API key of the request, which the database does not have.
    ADD COLUMN sealed_response bytea,
    ADD CONSTRAINT idempotency_keys_claim CHECK (
        num_nonnulls(notification_id, claim_id) = 1
        AND (claimed_until IS NULL) = (claim_id IS NULL)
        AND (claim_id IS NOT NULL OR num_nonnulls(performed_at, sealed_response) = 0)),
    ADD CONSTRAINT idempotency_keys_sealed_response_length CHECK (octet_length(sealed_response) BETWEEN 1 AND 262144);

-- A tenant's claims are counted before another one is added.
CREATE INDEX idempotency_keys_claims ON doorstep.idempotency_keys (tenant_id) WHERE claim_id IS NOT NULL;

GRANT UPDATE (claim_id, claimed_until, performed_at, sealed_response) ON doorstep.idempotency_keys TO doorstep_app;
-- The manager's transactions record that they carried out a request.
GRANT SELECT (tenant_id, key, claim_id), UPDATE (performed_at) ON doorstep.idempotency_keys TO doorstep_manager;
