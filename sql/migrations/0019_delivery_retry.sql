-- Keys of a tenant retry dead letters over HTTP: as the manager, who also writes the audit entry of it.
GRANT UPDATE (state, due_at, finished_at, lost_replies) ON doorstep.deliveries TO doorstep_manager;
