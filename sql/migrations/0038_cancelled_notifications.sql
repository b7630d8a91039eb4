-- A cancelled notification: what was queued is not sent any more.
ALTER TABLE doorstep.notifications ADD COLUMN cancelled_at timestamptz;

GRANT UPDATE (cancelled_at) ON doorstep.notifications TO doorstep_app;
-- The audit log tells who cancelled it.
GRANT EXECUTE ON FUNCTION doorstep.record_act(text, text, jsonb, jsonb) TO doorstep_app;
