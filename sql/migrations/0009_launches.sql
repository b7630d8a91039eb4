-- What else is known of launches: sources and permissions as Apple names them, and how many instances they may add.

-- Confirmations ------------------------------------------------------------------------------------------------

-- What is there was held to a shorter list: it need not be looked at again, which could take minutes under this lock.
ALTER TABLE doorstep.confirmations
    DROP CONSTRAINT confirmations_source,
    ADD CONSTRAINT confirmations_source CHECK (source IN (
        'nfc', 'app_clip_code', 'qr_code', 'maps', 'messages', 'mail', 'safari', 'spotlight', 'siri', 'app', 'app_library',
        'notification', 'unknown')) NOT VALID;

-- Instances ----------------------------------------------------------------------------------------------------

-- `UNAuthorizationStatus` in full.
ALTER TABLE doorstep.instances
    DROP CONSTRAINT instances_permission,
    ADD CONSTRAINT instances_permission
        CHECK (permission IN ('notDetermined', 'denied', 'authorized', 'provisional', 'ephemeral'));

-- Limits -------------------------------------------------------------------------------------------------------

-- How many instances a tenant gets, a second in the long run and at once: in all, and from each client address that uses
-- its publishable keys. NULL leaves it to the server's settings.
ALTER TABLE doorstep.tenants
    ADD COLUMN new_instance_rate integer,
    ADD COLUMN new_instance_burst integer,
    ADD COLUMN client_new_instance_rate integer,
    ADD COLUMN client_new_instance_burst integer,
    ADD CONSTRAINT tenants_new_instance_limit_range
        CHECK (new_instance_rate BETWEEN 1 AND 1000000 AND new_instance_burst BETWEEN 1 AND 1000000),
    ADD CONSTRAINT tenants_new_instance_limit_is_whole CHECK (num_nonnulls(new_instance_rate, new_instance_burst) <> 1),
    ADD CONSTRAINT tenants_client_new_instance_limit_range
        CHECK (client_new_instance_rate BETWEEN 1 AND 1000000 AND client_new_instance_burst BETWEEN 1 AND 1000000),
    ADD CONSTRAINT tenants_client_new_instance_limit_is_whole
        CHECK (num_nonnulls(client_new_instance_rate, client_new_instance_burst) <> 1);

-- What a trigger looks at is told to it when it is made.
DROP TRIGGER record_routing_update ON doorstep.tenants;
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.tenants
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(
        '',
        'suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst');

GRANT UPDATE (new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst)
    ON doorstep.tenants TO doorstep_admin;
GRANT SELECT (new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst)
    ON doorstep.tenants TO doorstep_router;
