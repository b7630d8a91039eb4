-- Test tenants: their keys have a longer prefix, and they notify only in the environment `sandbox`. No role may change the column.
ALTER TABLE doorstep.tenants ADD COLUMN is_test boolean NOT NULL DEFAULT false;

-- Keys of test tenants begin with `dpk_test_` or `dsk_test_`, so that their hints have 13 characters.
ALTER TABLE doorstep.api_keys DROP CONSTRAINT api_keys_hint_length;
ALTER TABLE doorstep.api_keys ADD CONSTRAINT api_keys_hint_length CHECK (char_length(hint) <= 16);
