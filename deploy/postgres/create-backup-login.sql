-- A login that may back everything up: it reads each tenant's rows past the policies, which are forced on everyone else, and
-- takes base backups. It can write nothing, and reads everything: its password is kept as the database itself is.
-- Run by a superuser in the database that Doorstep uses:
--
--   psql --dbname=doorstep --file=deploy/postgres/create-backup-login.sql
--
-- The password comes from the environment: BACKUP_PASSWORD.

\set ON_ERROR_STOP on
\getenv backup_password BACKUP_PASSWORD

BEGIN;

-- INHERIT: what pg_read_all_data may it may at once. The policies are passed by BYPASSRLS alone.
CREATE ROLE doorstep_backup_login LOGIN REPLICATION BYPASSRLS INHERIT PASSWORD :'backup_password' IN ROLE pg_read_all_data;
SELECT format('GRANT CONNECT ON DATABASE %I TO doorstep_backup_login', current_database()) \gexec

COMMIT;
