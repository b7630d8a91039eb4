-- Creates one login for each job, with only the roles of sql/roles.sql that the job needs. A leaked password of the server
-- therefore gives access neither to the administration nor to the schema. Run this as a superuser (here as root, who becomes
-- postgres), after sql/roles.sql, in the database that Doorstep uses. If you run it again, it sets all passwords again. So the
-- variables must then contain the passwords that the logins have.
--
--   (set -a; . /root/doorstep-passwords; runuser -u postgres -- \
--       psql --dbname=doorstep --file=sql/roles.sql --file=deploy/postgres/create-logins.sql)
--
-- /root/doorstep-passwords sets the variables MIGRATE_PASSWORD, ADMIN_PASSWORD and SERVE_PASSWORD, so that no password is on a
-- command line. If `log_statement` is ddl, mod or all, PostgreSQL's log contains them. If the file also sets CONSOLE_PASSWORD, this script creates the console's login too.

\set ON_ERROR_STOP on
\getenv migrate_password MIGRATE_PASSWORD
\getenv admin_password ADMIN_PASSWORD
\getenv serve_password SERVE_PASSWORD
\getenv console_password CONSOLE_PASSWORD

BEGIN;

SELECT format('CREATE ROLE %I', login)
FROM unnest(ARRAY['doorstep_migrate_login', 'doorstep_admin_login', 'doorstep_serve_login']) AS login
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) \gexec
ALTER ROLE doorstep_migrate_login LOGIN PASSWORD :'migrate_password';
ALTER ROLE doorstep_admin_login LOGIN PASSWORD :'admin_password';
ALTER ROLE doorstep_serve_login LOGIN PASSWORD :'serve_password';
GRANT doorstep_owner TO doorstep_migrate_login;
GRANT doorstep_admin, doorstep_app TO doorstep_admin_login; -- doorstep_app: `doorstep lookup` and others
GRANT doorstep_app, doorstep_router, doorstep_manager TO doorstep_serve_login;

-- The migrations create objects in the schema "doorstep" only, and none in "public".
SELECT format('GRANT CREATE ON DATABASE %I TO doorstep_owner', current_database()) \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format(
    'GRANT CONNECT ON DATABASE %I TO doorstep_migrate_login, doorstep_admin_login, doorstep_serve_login',
    current_database()) \gexec
-- Imports use a temporary table.
SELECT format('GRANT TEMPORARY ON DATABASE %I TO doorstep_admin, doorstep_manager', current_database()) \gexec

\if :{?console_password}
SELECT 'CREATE ROLE doorstep_console_login'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'doorstep_console_login') \gexec
ALTER ROLE doorstep_console_login LOGIN PASSWORD :'console_password';
GRANT doorstep_admin, doorstep_app, doorstep_router TO doorstep_console_login;
SELECT format('GRANT CONNECT ON DATABASE %I TO doorstep_console_login', current_database()) \gexec
\endif

COMMIT;
