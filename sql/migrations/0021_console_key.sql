-- The key by which the console recognises its own links and cookies, so that it refuses made-up ones without a query.
--
-- It proves nothing by itself: a link or a session also needs its row. So it is in the database, which all consoles and the
-- command that makes links share, and is never replaced. One row, which is no tenant's.
CREATE TABLE doorstep.console_key (
    is_only boolean NOT NULL PRIMARY KEY DEFAULT true,
    -- For HMAC-SHA256.
    key bytea NOT NULL,
    CONSTRAINT console_key_is_only CHECK (is_only),
    CONSTRAINT console_key_length CHECK (octet_length(key) = 32)
);

-- Each UUID of version 4 has 122 random bits of the server's strong generator.
INSERT INTO doorstep.console_key (key)
VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

GRANT SELECT ON doorstep.console_key TO doorstep_admin;
