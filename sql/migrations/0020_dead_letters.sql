-- A retry by state or reason reads the dead letters of a tenant, not all its deliveries.
CREATE INDEX deliveries_dead_letters ON doorstep.deliveries (tenant_id, created_at)
    WHERE state IN ('refused', 'uncertain', 'expired');
