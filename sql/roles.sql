-- The roles Doorstep works as. None can log in: a login is made a member of the one it needs, and of no other
-- (deploy/postgres/create-logins.sql shows how). Roles belong to the whole cluster, so this file creates only what is missing; and the
-- owner's schema belongs to the database.
--
--   doorstep_owner   owns the schema; only `doorstep migrate` becomes it
--   doorstep_app     the server: reads the catalogue of one tenant at a time, records confirmations
--   doorstep_admin   the administration commands
--   doorstep_router  reads the routing columns of every tenant and the log of changes, which it may prune;
--                   sees no confirmation and no entry of the audit log, and looks after the partitions of the
--                   one's days and the retention of the other
--   doorstep_manager writes the catalogue of one tenant at a time for the server, reads its audit log and
--                   confirmations; lists no tenants

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'doorstep_owner', 'doorstep_app', 'doorstep_admin', 'doorstep_router', 'doorstep_manager'
    ] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', name);
            EXCEPTION
                -- Two processes that migrate two databases of one cluster may both come here first.
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        END IF;
    END LOOP;

    -- Who migrates must be able to become the owner. From PostgreSQL 16 on, who creates a role is a member of it but
    -- may not become it.
    IF NOT pg_catalog.pg_has_role(current_user, 'doorstep_owner',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT doorstep_owner TO %I', current_user);
    END IF;

    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'doorstep') THEN
        CREATE SCHEMA doorstep AUTHORIZATION doorstep_owner;
    END IF;
END
$$;
