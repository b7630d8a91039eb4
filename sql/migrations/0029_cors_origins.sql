-- The origins of the web pages that may call the API with a tenant's publishable keys (CORS). Servers keep them in memory.
ALTER TABLE doorstep.tenants
    ADD COLUMN cors_origins text[] COLLATE "C" NOT NULL DEFAULT '{}',
    ADD CONSTRAINT tenants_cors_origins CHECK (
        cardinality(cors_origins) <= 16 AND octet_length(array_to_string(cors_origins, ' ', '*')) <= 4095
        AND array_to_string(cors_origins, ' ', '*') ~ '^(https?://[a-z0-9.:-]+( https?://[a-z0-9.:-]+)*)?$');

GRANT UPDATE (cors_origins) ON doorstep.tenants TO doorstep_admin, doorstep_manager;
GRANT SELECT (cors_origins) ON doorstep.tenants TO doorstep_router;

CREATE OR REPLACE TRIGGER record_routing_update AFTER UPDATE ON doorstep.tenants
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('',
        'name, suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate, '
        'new_instance_burst, client_new_instance_rate, client_new_instance_burst, cors_origins');
