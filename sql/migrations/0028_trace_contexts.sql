-- The trace (W3C Trace Context) of the request that caused a notification or a webhook message: its ID and flags, which the
-- transaction names in a setting. Webhook messages pass it on.

ALTER TABLE doorstep.webhook_messages
    ADD COLUMN trace_context text COLLATE "C" DEFAULT nullif(current_setting('doorstep.trace_context', true), ''),
    ADD CONSTRAINT webhook_messages_trace_context CHECK (trace_context ~ '^[0-9a-f]{32}-[0-9a-f]{2}$');

ALTER TABLE doorstep.notifications
    ADD COLUMN trace_context text COLLATE "C" DEFAULT nullif(current_setting('doorstep.trace_context', true), ''),
    ADD CONSTRAINT notifications_trace_context CHECK (trace_context ~ '^[0-9a-f]{32}-[0-9a-f]{2}$');
