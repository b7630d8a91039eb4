-- The roles of Doorstep. None can log in. Give each login only the roles that it needs: see deploy/postgres/create-logins.sql. Roles
-- belong to the whole cluster and the schema to the database, so this file creates only what is missing.
--
--   doorstep_owner    owns the schema; only `doorstep migrate` uses it
--   doorstep_app      the server: reads the catalogue of one tenant at a time, and records confirmations
--   doorstep_admin    the administration commands
--   doorstep_router   reads the routing columns of all tenants; reads the log of changes, and deletes from it. It manages the partitions of
--                     confirmations and the retention of the audit log, and can read neither
--   doorstep_manager  the server: writes the catalogue of one tenant at a time, and reads its audit log and confirmations; it cannot
--                     list tenants

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
                -- Two processes that migrate two databases of one cluster may create a role at the same time.
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        END IF;
    END LOOP;

    -- The migrating login must be able to use the owner's role. From PostgreSQL 16 on, the creator of a role is a member of it, but
    -- may not use it.
    IF NOT pg_catalog.pg_has_role(current_user, 'doorstep_owner',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT doorstep_owner TO %I', current_user);
    END IF;

    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'doorstep') THEN
        CREATE SCHEMA doorstep AUTHORIZATION doorstep_owner;
    END IF;
END
$$;
