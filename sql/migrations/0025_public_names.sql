-- Public names follow one vocabulary: the scope and operation `lookup`, the policy member `lookup`, the event `delivery.finished`.

ALTER TABLE doorstep.api_keys
    NO FORCE ROW LEVEL SECURITY,
    DROP CONSTRAINT api_keys_scopes;
ALTER TABLE doorstep.clips NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhooks
    NO FORCE ROW LEVEL SECURITY,
    DROP CONSTRAINT webhooks_events;
ALTER TABLE doorstep.attestation_days
    NO FORCE ROW LEVEL SECURITY,
    DROP CONSTRAINT attestation_days_operation;

-- Tenant by tenant, because the audit log records each change under its tenant.
DO $$
DECLARE
    tenant uuid;
BEGIN
    PERFORM set_config('doorstep.actor', 'migration:25', true);
    FOR tenant IN
        SELECT tenant_id FROM doorstep.api_keys UNION SELECT tenant_id FROM doorstep.clips UNION SELECT tenant_id FROM doorstep.webhooks
    LOOP
        PERFORM set_config('doorstep.tenant_id', tenant::text, true);
        UPDATE doorstep.api_keys SET scopes = array_replace(scopes, 'look_up', 'lookup')
        WHERE tenant_id = tenant AND 'look_up' = ANY (scopes);
        UPDATE doorstep.clips
        SET attestation = (attestation - 'lookUp') || jsonb_build_object('lookup', attestation -> 'lookUp')
        WHERE tenant_id = tenant AND attestation ? 'lookUp';
        UPDATE doorstep.webhooks SET events = array_replace(events, 'deliveries.finished', 'delivery.finished')
        WHERE tenant_id = tenant AND 'deliveries.finished' = ANY (events);
        UPDATE doorstep.attestation_days SET operation = 'lookup' WHERE tenant_id = tenant AND operation = 'look_up';
    END LOOP;
    PERFORM set_config('doorstep.tenant_id', '', true), set_config('doorstep.actor', '', true);
END
$$;

ALTER TABLE doorstep.api_keys
    FORCE ROW LEVEL SECURITY,
    ADD CONSTRAINT api_keys_scopes CHECK (
        cardinality(scopes) > 0
        AND scopes <@ CASE kind
            WHEN 'publishable' THEN ARRAY['lookup', 'confirm', 'register']
            ELSE ARRAY['lookup', 'confirm', 'compose', 'register', 'notify', 'read', 'manage', 'manage_keys'] END);
ALTER TABLE doorstep.clips FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhooks
    FORCE ROW LEVEL SECURITY,
    ADD CONSTRAINT webhooks_events CHECK (
        cardinality(events) > 0
        AND events <@ ARRAY[
            'delivery.finished', 'location.changed', 'experience.changed', 'domain.proved', 'domain.contested',
            'domain.lapsed', 'domain.withdrawn', 'key.revoked', 'confirmation.recorded', 'webhook.disabled', 'appstore.drift']);
ALTER TABLE doorstep.attestation_days
    FORCE ROW LEVEL SECURITY,
    ADD CONSTRAINT attestation_days_operation CHECK (operation IN ('lookup', 'confirm', 'register'));

-- Servers that name no webhook are not compatible with this schema.
DROP TRIGGER address_webhook_message ON doorstep.webhook_messages;
DROP FUNCTION doorstep.address_webhook_message();
