-- By which key of App Store Connect a clip's experiences are registered: one for a clip, replaced by connecting anew. The key is
-- sealed as push tokens are, under a name that the audit log leaves out.
CREATE TABLE doorstep.app_store_connections (
    tenant_id uuid NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    -- Of a team key; NULL for an individual one.
    issuer_id text COLLATE "C",
    sealed_secret bytea NOT NULL,
    connected_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bundle_id),
    FOREIGN KEY (tenant_id, bundle_id) REFERENCES doorstep.clips ON DELETE CASCADE,
    CONSTRAINT app_store_connections_key_id_form CHECK (key_id ~ '^[!-~]{1,64}$'),
    CONSTRAINT app_store_connections_issuer_id_form CHECK (issuer_id ~ '^[!-~]{1,64}$'),
    CONSTRAINT app_store_connections_sealed_secret_length CHECK (octet_length(sealed_secret) BETWEEN 33 AND 4096)
);

ALTER TABLE doorstep.app_store_connections ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.app_store_connections FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.app_store_connections
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));

-- Operators alone make and read them. They go with their clips, which keys of tenants may delete.
GRANT SELECT, INSERT, DELETE ON doorstep.app_store_connections TO doorstep_admin;
GRANT UPDATE (key_id, issuer_id, sealed_secret, connected_at) ON doorstep.app_store_connections TO doorstep_admin;

CREATE TRIGGER record_insert AFTER INSERT ON doorstep.app_store_connections REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
CREATE TRIGGER record_update AFTER UPDATE ON doorstep.app_store_connections
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change('tenant_id, bundle_id');
CREATE TRIGGER record_delete AFTER DELETE ON doorstep.app_store_connections REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
