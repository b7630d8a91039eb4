-- Who works at the operators' console. These rows are the installation's and no tenant's: the administration alone reaches
-- them.

-- Login links that were made and not used. One is used by deleting its row.
CREATE TABLE doorstep.console_links (
    -- SHA-256 of what stands in the link.
    digest bytea PRIMARY KEY,
    name text NOT NULL,
    -- The one tenant that is seen; NULL for all. No foreign key: whoever has a link to a tenant that is gone sees none.
    limited_to uuid,
    read_only boolean NOT NULL,
    -- How long the session may last.
    session_seconds integer NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT console_links_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT console_links_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    CONSTRAINT console_links_session_seconds_range CHECK (session_seconds BETWEEN 60 AND 43200)
);

CREATE TABLE doorstep.console_sessions (
    session_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- SHA-256 of what stands in the cookie.
    digest bytea NOT NULL,
    name text NOT NULL,
    limited_to uuid,
    read_only boolean NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT console_sessions_digest_key UNIQUE (digest),
    CONSTRAINT console_sessions_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT console_sessions_name_length CHECK (char_length(name) BETWEEN 1 AND 128),
    CONSTRAINT console_sessions_length CHECK (expires_at <= created_at + interval '12 hours')
);

-- What concerns no tenant, so that no audit log has it.
CREATE TABLE doorstep.console_events (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    event text NOT NULL,
    -- Who the console, or the command, said it was.
    name text NOT NULL,
    -- Who the database knew it to be.
    login text NOT NULL DEFAULT session_user,
    CONSTRAINT console_events_event_value CHECK (event IN
        ('link_made', 'signed_in', 'signed_out', 'session_ended', 'all_sessions_ended', 'key_shown')),
    CONSTRAINT console_events_name_length CHECK (char_length(name) BETWEEN 1 AND 128)
);

GRANT SELECT, INSERT, DELETE ON doorstep.console_links, doorstep.console_sessions TO doorstep_admin;
GRANT UPDATE (seen_at) ON doorstep.console_sessions TO doorstep_admin;
GRANT SELECT ON doorstep.console_events TO doorstep_admin;
GRANT INSERT (event, name) ON doorstep.console_events TO doorstep_admin;
