-- Keys and webhooks can have a name, so that people know what each is for.
ALTER TABLE doorstep.api_keys
    ADD COLUMN name text,
    ADD CONSTRAINT api_keys_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    ADD CONSTRAINT api_keys_name_characters CHECK (name !~ '[\u0001-\u001F\u007F-\u009F]');
ALTER TABLE doorstep.webhooks
    ADD COLUMN name text,
    ADD CONSTRAINT webhooks_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    ADD CONSTRAINT webhooks_name_characters CHECK (name !~ '[\u0001-\u001F\u007F-\u009F]');

GRANT SELECT (name) ON doorstep.api_keys TO doorstep_manager;
GRANT UPDATE (name) ON doorstep.api_keys TO doorstep_admin, doorstep_manager;
GRANT UPDATE (name) ON doorstep.webhooks TO doorstep_admin, doorstep_manager;

-- The name counts towards the quota of keys.
CREATE OR REPLACE TRIGGER count_usage_insert AFTER INSERT ON doorstep.api_keys
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END',
        'revoked_at IS NULL');
CREATE OR REPLACE TRIGGER count_usage_update AFTER UPDATE ON doorstep.api_keys
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END',
        'revoked_at IS NULL');
CREATE OR REPLACE TRIGGER count_usage_delete AFTER DELETE ON doorstep.api_keys
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION doorstep.count_usage(
        'keys', 'CASE WHEN revoked_at IS NULL THEN octet_length(concat(kind, hint, scopes, locations, name)) ELSE 0 END',
        'revoked_at IS NULL');
