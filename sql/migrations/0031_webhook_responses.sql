-- The log of webhooks keeps the beginning of each response. The newest thousand of a webhook stay, so a tenant's are bounded.
CREATE TABLE doorstep.webhook_responses (
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    -- Counts the responses of the webhook: the oldest are deleted by it.
    number bigint NOT NULL,
    message_id uuid NOT NULL,
    -- The time of the attempt, exactly as `webhook_messages.attempts` has it.
    at text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, number),
    FOREIGN KEY (tenant_id, webhook_id, message_id) REFERENCES doorstep.webhook_messages ON DELETE CASCADE,
    CONSTRAINT webhook_responses_at_length CHECK (octet_length(at) BETWEEN 20 AND 32),
    CONSTRAINT webhook_responses_body_length CHECK (octet_length(body) BETWEEN 1 AND 4096)
);

CREATE INDEX webhook_responses_message ON doorstep.webhook_responses (tenant_id, webhook_id, message_id);

ALTER TABLE doorstep.webhook_responses ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhook_responses FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.webhook_responses
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
GRANT SELECT, INSERT, DELETE ON doorstep.webhook_responses TO doorstep_app;
GRANT SELECT ON doorstep.webhook_responses TO doorstep_admin, doorstep_manager;
