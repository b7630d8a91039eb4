"""The data of deploy/checks/console: a usual tenant, one with many locations, and one with hostile names.

usage: console_seed.py FOLDER PLACES
"""

import csv
import pathlib
import random
import struct
import sys
import zlib

HOSTILE = [
    '"><img src=x onerror=alert(1)>',
    "</title></table><script>alert(1)</script>",
    "\u202Egnp.exe \u202D\u2066abc",
    "\U0001D54F" * 128,
    "Z" + "\u0335\u0336\u0337" * 40,
    "'; DROP TABLE locations; --",
    "مطعم ١٢٣ – “A” & <b>",
    "a" * 128,
    "javascript:alert(1)",
]

CITIES = [
    ("Amsterdam", 52.37, 4.90), ("Berlin", 52.52, 13.40), ("Cupertino", 37.33, -122.01), ("Lagos", 6.52, 3.38),
    ("London", 51.51, -0.13), ("Mexico City", 19.43, -99.13), ("Mumbai", 19.08, 72.88), ("Nairobi", -1.29, 36.82),
    ("New York", 40.71, -74.01), ("Paris", 48.86, 2.35), ("São Paulo", -23.55, -46.63), ("Seoul", 37.57, 126.98),
    ("Sydney", -33.87, 151.21), ("Tokyo", 35.69, 139.69), ("Toronto", 43.65, -79.38), ("Warsaw", 52.23, 21.01),
]

KINDS = ["Bakery", "Bike station", "Café", "Noodle bar", "Parking", "Pharmacy", "Pizzeria", "Scooter dock", "Tea room"]


# Responses of APNs and App Store Connect: no request is sent here.
SENT = """
    SET session_replication_role = replica;
    DO $$
    DECLARE
        t uuid;
        name text;
        said text;
        place text;
        ms bigint := floor(extract(epoch FROM now()) * 1000)::bigint - 60000;
        made timestamptz := 'epoch'::timestamptz + ms * interval '1 ms';
        id text := lpad(to_hex(ms), 12, '0') || '70008000';
    BEGIN
        FOR t, name IN SELECT tenant_id, slug FROM doorstep.tenants WHERE slug IN ('restaurants', 'hostile') LOOP
        said := CASE name WHEN 'hostile' THEN '"><img src=x onerror=alert(1)>' ELSE 'TooManyRequests' END;
        place := CASE name WHEN 'hostile' THEN '</script><script>alert(1)</script>' ELSE 'restaurant_a' END;
        PERFORM set_config('doorstep.tenant_id', t::text, true);
        INSERT INTO doorstep.notifications (tenant_id, created_at, notification_id, bundle_id, url, experience_url,
            location_identifier, audience, push_type, priority, payload)
        VALUES (t, made, (id || lpad('1', 12, '0'))::uuid, 'com.example.MyApp.Clip',
            'https://example.com/restaurants/' || place, 'https://example.com/restaurants/restaurant_a', place,
            '{"business": true}', 'alert', 10, convert_to('{"aps":{"alert":"<b>Your table</b> is ready"}}', 'UTF8'));
        INSERT INTO doorstep.deliveries (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind,
            environment, state, reason, due_at, attempt, finished_at, answers)
        SELECT t, made, (id || lpad('1', 12, '0'))::uuid, (id || lpad(to_hex(n + 1), 12, '0'))::uuid,
            gen_random_uuid(), 'device', 'production', s.state, s.reason, CASE s.state WHEN 'queued' THEN now() END,
            CASE s.state WHEN 'queued' THEN 0 ELSE 1 END, CASE s.state WHEN 'queued' THEN NULL ELSE now() END,
            CASE s.state WHEN 'refused' THEN jsonb_build_array(jsonb_build_object('attempt', 1,
                'at', ms, 'status', 429,
                'reason', s.reason)) ELSE '[]' END
        FROM generate_series(1, 70) AS n, LATERAL (
            SELECT (ARRAY['delivered', 'delivered', 'refused', 'refused', 'uncertain', 'queued'])[1 + n % 6],
                (ARRAY[NULL, NULL, said, 'InternalServerError', NULL, NULL])[1 + n % 6]
        ) AS s (state, reason);
        INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, issuer_id, sealed_secret)
        VALUES (t, 'com.example.MyApp.Clip', 'ABCDE12345', NULL, convert_to(repeat('x', 64), 'UTF8'));
        INSERT INTO doorstep.app_store_experiences (tenant_id, bundle_id, url, phase, remote_id, content, sent_at)
        VALUES (t, 'com.example.MyApp.Clip', 'https://example.com/restaurants', 'created', '1', '{}', now());
        INSERT INTO doorstep.app_store_refusals (tenant_id, bundle_id, url, content, code, source, refused_at)
        VALUES (t, 'com.example.MyApp.Clip', 'https://example.com/restaurants/' || place, '{}',
            'ENTITY_ERROR.ATTRIBUTE.INVALID', '/data/attributes/link', now());
        INSERT INTO doorstep.app_store_runs (tenant_id, run_id, bundle_id, actor, started_at, ended_at, outcome)
        VALUES (t, gen_random_uuid(), 'com.example.MyApp.Clip', 'operator:ada', now(), now(), 'done'),
            (t, gen_random_uuid(), 'com.example.MyApp.Clip', 'operator:<b>', now(), NULL, NULL);
        INSERT INTO doorstep.app_store_checks
            (tenant_id, bundle_id, due_at, checked_at, counts, summary, findings_digest, failure)
        VALUES (t, 'com.example.MyApp.Clip', now(), now(), '{}', jsonb_build_object('inStep', false,
            'counts', '{"create": 3, "update": 120}'::jsonb, 'findings', '{"place_rewritten": 60}'::jsonb,
            'places', '{"matched": 7}'::jsonb, 'missing', jsonb_build_array('https://example.com/' || place)),
            sha256(''), CASE name WHEN 'hostile' THEN said END);
        INSERT INTO doorstep.app_store_check_rows (tenant_id, bundle_id, url, row_json)
        SELECT t, 'com.example.MyApp.Clip', 'https://example.com/restaurants/' || place || n, jsonb_build_object('step', 'update',
            'id', '1' || n, 'changes', jsonb_build_array(jsonb_build_object('path', '/attributes/link', 'old', said,
            'new', repeat('x', 300))), 'findings', jsonb_build_array(jsonb_build_object('code', 'place_rewritten',
            'detail', said)))
        FROM generate_series(1, 120) AS n;
        END LOOP;
    END $$;
    """


def write_csv(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def picture():
    """A PNG as cards have them: 1800 × 1200 pixels in RGB."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes((13 + y // 10, 107, 88)) * 1800 for y in range(1200))
    header = struct.pack(">IIBBBBB", 1800, 1200, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def seed(folder, count):
    folder = pathlib.Path(folder)
    (folder / "header.png").write_bytes(picture())
    dice = random.Random(20251124)
    columns = ["identifier", "name", "latitude", "longitude", "radius"]
    restaurants = [
        ("restaurant_a", "Restaurant A", 37.334722, -122.008889, 100),
        ("restaurant_b", "Restaurant B", 37.331820, -122.031180, 60),
        ("restaurant_c", "Restaurant C", 37.331820, -122.031180, 8),
    ]
    many = []
    for number in range(count):
        city, latitude, longitude = CITIES[dice.randrange(len(CITIES))]
        kind = KINDS[dice.randrange(len(KINDS))]
        many.append((
            f"p{number:05}", f"{kind} {number:05}, {city}", round(latitude + dice.gauss(0, 0.35), 6),
            round(longitude + dice.gauss(0, 0.5), 6), dice.choice([25, 50, 80, 100, 150, 300])))
    many[7] = (*many[7][:2], 0, 0, 50)
    # An identifier must not begin with an invisible character.
    hostile = [
        (f"{name.lstrip(chr(0x202E))[:100]} {number}", name, 10 + number, 20 + number, 100)
        for number, name in enumerate(HOSTILE)
    ]
    (folder / "hostile.place").write_text(hostile[0][0], encoding="utf-8")
    names = {"restaurants": "Restaurants", "many": "City Services", "hostile": HOSTILE[0]}
    for tenant, rows in (("restaurants", restaurants), ("many", many), ("hostile", hostile)):
        (folder / f"{tenant}.name").write_text(names[tenant], encoding="utf-8")
        write_csv(folder / f"{tenant}.locations.csv", columns, rows)
    clip = "com.example.MyApp.Clip"
    experiences = ["clip", "url", "kind", "location", "identifier_rule", "title", "subtitle"]
    write_csv(folder / "restaurants.experiences.csv", experiences, [
        (clip, "https://example.com/restaurants/restaurant_a", "advanced", "restaurant_a", "", "Restaurant A", "Order"),
        (clip, "https://example.com/restaurants", "advanced", "", "path:1", "Restaurants", "Order at your table"),
        (clip, "https://example.com", "default", "", "", "", ""),
    ])
    write_csv(folder / "many.experiences.csv", experiences, [
        (clip, "https://city.example.com/s", "advanced", "", "path:1", "City Services", "Open the door"),
    ])
    write_csv(folder / "hostile.experiences.csv", experiences, [
        (clip, "https://hostile.example.com/h", "advanced", "", "path:1", "<b>&\"'", "</title>"),
    ])
    # No request can record confirmations or launches of past days.
    (folder / "confirmations.sql").write_text("""
        DO $$
        DECLARE t uuid;
        BEGIN
            FOR t IN SELECT tenant_id FROM doorstep.tenants WHERE slug IN ('restaurants', 'many') LOOP
                PERFORM set_config('doorstep.tenant_id', t::text, true);
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                SELECT t, gen_random_uuid(), CASE n % 3 WHEN 0 THEN 'restaurant_a' WHEN 1 THEN 'p00001' ELSE 'p00002' END,
                    (ARRAY['inRegion', 'inRegion', 'inRegion', 'inRegion', 'notInRegion', 'disallowed', 'undetermined'])
                        [1 + n % 7], 'qr_code',
                    date_trunc('minute', now() - make_interval(hours => (n * n) % 700), 'UTC')
                FROM generate_series(1, 900) AS n;
                INSERT INTO doorstep.launch_days
                    (tenant_id, day, location_identifier, experience_url, source, lookups, launch_reports)
                SELECT t, current_date - n, location, 'https://example.com/restaurants', 'qr_code', 40 + n % 7, 20 + n % 5
                FROM generate_series(0, 40) AS n, unnest(ARRAY['restaurant_a', 'p00001', '']) AS location;
            END LOOP;
        END $$;
        """ + SENT, encoding="utf-8")


if __name__ == "__main__":
    seed(sys.argv[1], int(sys.argv[2]))
