-- Creates a login for backups. The login bypasses row-level security, so that it reads the rows of all tenants. It can make base
-- backups, and it cannot write. Protect its password like the database itself.
-- Run this as a superuser (here as root, who becomes postgres) in the database that Doorstep uses. If you run it again, it sets the
-- password, and gives the login access to the database in which you run it.
--
--   (set -a; . /root/doorstep-backup-password; runuser -u postgres -- \
--       psql --dbname=doorstep --file=deploy/postgres/create-backup-login.sql)
--
-- /root/doorstep-backup-password sets the variable BACKUP_PASSWORD, so that the password is not on a command line. If `log_statement` is
-- ddl, mod or all, PostgreSQL's log contains it.

\set ON_ERROR_STOP on
\getenv backup_password BACKUP_PASSWORD

BEGIN;

-- INHERIT gives the login the rights of pg_read_all_data without SET ROLE. BYPASSRLS is a separate attribute, and not inherited.
SELECT 'CREATE ROLE doorstep_backup_login' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'doorstep_backup_login') \gexec
ALTER ROLE doorstep_backup_login LOGIN REPLICATION BYPASSRLS INHERIT PASSWORD :'backup_password';
GRANT pg_read_all_data TO doorstep_backup_login;
SELECT format('GRANT CONNECT ON DATABASE %I TO doorstep_backup_login', current_database()) \gexec

COMMIT;
