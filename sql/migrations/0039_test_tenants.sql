-- Test tenants: their keys have a longer prefix, and they notify only in the environment `sandbox`. No role of servers, consoles or
-- operators may change the column.
ALTER TABLE doorstep.tenants ADD COLUMN is_test boolean NOT NULL DEFAULT false;

-- Keys of test tenants begin with `dpk_test_` or `dsk_test_`, so that their hints have 13 characters.
ALTER TABLE doorstep.api_keys DROP CONSTRAINT api_keys_hint_length;
ALTER TABLE doorstep.api_keys ADD CONSTRAINT api_keys_hint_length CHECK (char_length(hint) <= 16);

-- Older programs create other keys. With such a key, older servers would serve the tenant, and notify in `production`.
CREATE FUNCTION doorstep.check_keys_of_test_tenants() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_rows n JOIN doorstep.tenants t USING (tenant_id)
        WHERE t.is_test <> starts_with(substr(n.hint, 4), '_test_'))
    THEN
        RAISE check_violation USING MESSAGE = 'a test tenant, and no other, has keys with _test_', CONSTRAINT = 'api_keys_of_test_tenants';
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION doorstep.check_keys_of_test_tenants() FROM PUBLIC;
CREATE TRIGGER check_keys_of_test_tenants AFTER INSERT ON doorstep.api_keys REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.check_keys_of_test_tenants();
