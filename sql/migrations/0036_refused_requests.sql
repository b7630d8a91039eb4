-- The refused and failed requests of a tenant's keys, so that a request ID in an error leads to the request.

-- The rows are written by the server, so that the table is not audited. They contain no URL, body, address or coordinate.
CREATE TABLE doorstep.refused_requests (
    tenant_id uuid NOT NULL,
    -- A UUID of version 7: it orders the requests by time.
    entry_id uuid NOT NULL,
    at timestamptz NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    -- The method and the path with its parameters in braces.
    endpoint text COLLATE "C" NOT NULL,
    status smallint NOT NULL,
    code text COLLATE "C" NOT NULL,
    key_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, entry_id),
    FOREIGN KEY (tenant_id) REFERENCES doorstep.tenants ON DELETE CASCADE,
    CONSTRAINT refused_requests_at_is_finite CHECK (isfinite(at)),
    CONSTRAINT refused_requests_request_id_length CHECK (octet_length(request_id) BETWEEN 1 AND 128),
    CONSTRAINT refused_requests_endpoint_length CHECK (octet_length(endpoint) BETWEEN 1 AND 256),
    CONSTRAINT refused_requests_status_range CHECK (status BETWEEN 400 AND 599),
    CONSTRAINT refused_requests_code_length CHECK (octet_length(code) BETWEEN 1 AND 64)
);

ALTER TABLE doorstep.refused_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE doorstep.refused_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON doorstep.refused_requests
    USING (tenant_id = (SELECT doorstep.current_tenant_id()))
    WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()));
CREATE POLICY router_reads ON doorstep.refused_requests FOR SELECT TO doorstep_router USING (true);

GRANT SELECT (tenant_id, entry_id) ON doorstep.refused_requests TO doorstep_router;
GRANT SELECT, INSERT, DELETE ON doorstep.refused_requests TO doorstep_app;
GRANT SELECT ON doorstep.refused_requests TO doorstep_manager, doorstep_admin;
