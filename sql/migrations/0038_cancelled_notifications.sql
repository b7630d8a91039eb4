-- A cancelled notification: what was queued is not sent any more.
ALTER TABLE doorstep.notifications ADD COLUMN cancelled_at timestamptz;

GRANT UPDATE (cancelled_at) ON doorstep.notifications TO doorstep_app;
