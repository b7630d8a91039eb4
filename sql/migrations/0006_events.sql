-- What many events need: messages of servers that know one webhook of a tenant, webhooks that go in parts, and the lists of
-- notifications by an index each.

-- Messages of older servers --------------------------------------------------------------------------------------

-- A server from before a tenant had several webhooks names neither the webhook nor the type: such a message is for each webhook
-- that wants to be told of what such a server tells.
CREATE FUNCTION doorstep.address_webhook_message() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, due_at)
    SELECT w.tenant_id, w.webhook_id, NEW.message_id, 'deliveries.finished', NEW.body, NEW.due_at
    FROM doorstep.webhooks AS w
    WHERE w.tenant_id = NEW.tenant_id AND w.disabled_at IS NULL AND 'deliveries.finished' = ANY (w.events)
    FOR KEY SHARE;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION doorstep.address_webhook_message() FROM PUBLIC;

CREATE TRIGGER address_webhook_message BEFORE INSERT ON doorstep.webhook_messages
    FOR EACH ROW WHEN (NEW.webhook_id IS NULL) EXECUTE FUNCTION doorstep.address_webhook_message();

-- Webhooks that go -----------------------------------------------------------------------------------------------

-- Who deletes a webhook deletes its messages before it, so many at a time.
GRANT DELETE ON doorstep.webhook_messages TO doorstep_manager;

-- Lists of notifications -----------------------------------------------------------------------------------------

-- The newest first, of the tenant and of a location; for who says so, as before.
CREATE INDEX notifications_newest ON doorstep.notifications (tenant_id, created_at, notification_id)
    WHERE push_type <> '';
CREATE INDEX notifications_location
    ON doorstep.notifications (tenant_id, location_identifier, created_at, notification_id)
    WHERE push_type <> '' AND location_identifier IS NOT NULL;
DROP INDEX doorstep.notifications_tenant;
