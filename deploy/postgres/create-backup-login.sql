-- Creates a login for backups. It bypasses row-level security, so that it reads the rows of all tenants, and it can make base
-- backups. It cannot write. Protect its password like the database itself.
-- Run this as a superuser (here as root, who becomes postgres) in the database that Doorstep uses:
--
--   (set -a; . /root/doorstep-backup-password; runuser -u postgres -- \
--       psql --dbname=doorstep --file=deploy/postgres/create-backup-login.sql)
--
-- The file sets the variable BACKUP_PASSWORD, so that the password is not on a command line.

\set ON_ERROR_STOP on
\getenv backup_password BACKUP_PASSWORD

BEGIN;

-- INHERIT gives the login the rights of pg_read_all_data without SET ROLE. BYPASSRLS is a separate attribute, and not inherited.
CREATE ROLE doorstep_backup_login LOGIN REPLICATION BYPASSRLS INHERIT PASSWORD :'backup_password' IN ROLE pg_read_all_data;
SELECT format('GRANT CONNECT ON DATABASE %I TO doorstep_backup_login', current_database()) \gexec

COMMIT;
