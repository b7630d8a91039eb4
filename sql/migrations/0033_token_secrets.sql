-- The secrets that sealed data in this database, by the four bytes of each secret's ID (HKDF-SHA256). A server whose DOORSTEP_TOKEN_SECRET has
-- none of them has the wrong secret. The IDs are already in the sealed data. No row belongs to a tenant.
CREATE TABLE doorstep.token_secrets (
    secret_id bytea PRIMARY KEY,
    first_used_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT token_secrets_secret_id_length CHECK (octet_length(secret_id) = 4)
);

GRANT SELECT ON doorstep.token_secrets TO doorstep_admin, doorstep_router;
-- `doorstep instance reseal` deletes the secrets that it has replaced.
GRANT DELETE ON doorstep.token_secrets TO doorstep_admin;

-- A trigger, because commands, consoles and servers of earlier versions seal data, too.
CREATE FUNCTION doorstep.note_token_secret() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sealed bytea;
    id bytea;
BEGIN
    IF TG_TABLE_NAME = 'push_tokens' THEN sealed := NEW.sealed; ELSE sealed := NEW.sealed_secret; END IF;
    id := substr(sealed, 2, 4);
    -- The first byte is the version of the format.
    IF get_byte(sealed, 0) = 1 AND NOT EXISTS (SELECT FROM doorstep.token_secrets WHERE secret_id = id) THEN
        INSERT INTO doorstep.token_secrets (secret_id) VALUES (id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION doorstep.note_token_secret() FROM PUBLIC;

CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed ON doorstep.push_tokens
    FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();
CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed_secret ON doorstep.webhooks
    FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();
CREATE TRIGGER note_token_secret AFTER INSERT OR UPDATE OF sealed_secret ON doorstep.app_store_connections
    FOR EACH ROW EXECUTE FUNCTION doorstep.note_token_secret();

-- The secrets of the data that exists. The owner sees no tenant's rows while row-level security is forced.
ALTER TABLE doorstep.push_tokens NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhooks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.app_store_connections NO FORCE ROW LEVEL SECURITY;
INSERT INTO doorstep.token_secrets (secret_id)
SELECT DISTINCT substr(sealed, 2, 4)
FROM (
    SELECT sealed FROM doorstep.push_tokens
    UNION ALL SELECT sealed_secret FROM doorstep.webhooks
    UNION ALL SELECT sealed_secret FROM doorstep.app_store_connections) AS stored
WHERE get_byte(sealed, 0) = 1;
ALTER TABLE doorstep.push_tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.webhooks FORCE ROW LEVEL SECURITY;
ALTER TABLE doorstep.app_store_connections FORCE ROW LEVEL SECURITY;
