-- What Apple's card of an experience is to say, and where Maps is to find its place: of a clip, of a location, of an experience,
-- each of which inherits from the one before. None of it is read by lookups.

-- Images ---------------------------------------------------------------------------------------------------------

-- By the SHA-256 of the file, so that the same image is there once.
CREATE TABLE doorstep.card_images (
    tenant_id uuid NOT NULL REFERENCES doorstep.tenants,
    -- In lower case, as cards name it.
    sha256 text COLLATE "C" NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    byte_count integer NOT NULL,
    added_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, sha256),
    CONSTRAINT card_images_sha256_form CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT card_images_media_type CHECK (media_type IN ('image/png', 'image/jpeg')),
    CONSTRAINT card_images_byte_count_range CHECK (byte_count BETWEEN 1 AND 10485760)
);

-- Apart, so that neither the audit log nor a list has anything to do with them; and as they are, since they are compressed.
CREATE TABLE doorstep.card_image_bytes (
    tenant_id uuid NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant_id, sha256),
    FOREIGN KEY (tenant_id, sha256) REFERENCES doorstep.card_images ON DELETE CASCADE,
    CONSTRAINT card_image_bytes_sha256 CHECK (encode(pg_catalog.sha256(bytes), 'hex') = sha256)
);
ALTER TABLE doorstep.card_image_bytes ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Cards ----------------------------------------------------------------------------------------------------------

-- As JSON without the image; NULL for what says nothing. The program writes 16 KiB at most; jsonb writes a space after each
-- colon and comma, and its own digits of numbers.
ALTER TABLE doorstep.clips
    ADD COLUMN app_store_id text COLLATE "C",
    ADD COLUMN android_url text COLLATE "C",
    ADD COLUMN site_name text,
    ADD COLUMN card jsonb,
    ADD COLUMN card_image text COLLATE "C",
    ADD CONSTRAINT clips_app_store_id_form CHECK (app_store_id ~ '^[1-9][0-9]{0,18}$'),
    ADD CONSTRAINT clips_android_url_form
        CHECK (starts_with(android_url, 'https://') AND octet_length(android_url) <= 2048),
    ADD CONSTRAINT clips_site_name_length CHECK (char_length(site_name) BETWEEN 1 AND 128);

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['locations', 'experiences'] LOOP
        EXECUTE format(
            'ALTER TABLE doorstep.%I ADD COLUMN card jsonb, ADD COLUMN card_image text COLLATE "C"', relation);
    END LOOP;
    FOREACH relation IN ARRAY ARRAY['clips', 'locations', 'experiences'] LOOP
        -- Not valid: the columns are new, so that there is nothing to look at, and the tables may be large.
        EXECUTE format(
            'ALTER TABLE doorstep.%1$I
                ADD CONSTRAINT %2$I CHECK (jsonb_typeof(card) = ''object'' AND card <> ''{}'' AND NOT card ? ''image'')
                    NOT VALID,
                ADD CONSTRAINT %3$I CHECK (octet_length(card::text) <= 65536) NOT VALID,
                ADD CONSTRAINT %4$I FOREIGN KEY (tenant_id, card_image) REFERENCES doorstep.card_images NOT VALID',
            relation, relation || '_card_is_object', relation || '_card_length', relation || '_card_image');
        -- For who deletes an image; most rows have none.
        EXECUTE format(
            'CREATE INDEX %I ON doorstep.%I (tenant_id, card_image) WHERE card_image IS NOT NULL',
            relation || '_card_image', relation);
        EXECUTE format(
            'GRANT UPDATE (card, card_image) ON doorstep.%I TO doorstep_admin, doorstep_manager', relation);
    END LOOP;
END
$$;

GRANT UPDATE (app_store_id, android_url, site_name) ON doorstep.clips TO doorstep_admin, doorstep_manager;

-- Row-level security, audit log and privileges of images ----------------------------------------------------------

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['card_images', 'card_image_bytes'] LOOP
        EXECUTE format('ALTER TABLE doorstep.%I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE doorstep.%I FORCE ROW LEVEL SECURITY', relation);
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON doorstep.%I
             USING (tenant_id = (SELECT doorstep.current_tenant_id()))
             WITH CHECK (tenant_id = (SELECT doorstep.current_tenant_id()))', relation);
        EXECUTE format(
            'GRANT SELECT, INSERT, DELETE ON doorstep.%I TO doorstep_admin, doorstep_manager', relation);
    END LOOP;
END
$$;

-- Nobody may change an image.
CREATE TRIGGER record_insert AFTER INSERT ON doorstep.card_images REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
CREATE TRIGGER record_delete AFTER DELETE ON doorstep.card_images REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
