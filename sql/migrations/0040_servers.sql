-- The servers (`doorstep serve`), which write the time regularly while they run. No row belongs to a tenant.
CREATE TABLE doorstep.servers (
    server_id uuid PRIMARY KEY,
    host text NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- Set by a server that stops in an orderly way.
    ended_at timestamptz,
    CONSTRAINT servers_host_length CHECK (char_length(host) <= 255),
    CONSTRAINT servers_version_length CHECK (char_length(version) <= 64)
);

GRANT SELECT, INSERT, UPDATE (seen_at, ended_at), DELETE ON doorstep.servers TO doorstep_router;
