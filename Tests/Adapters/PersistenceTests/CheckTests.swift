import Confirmations
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Receipts
import Tenancy
import TestSupport
import Testing

/// Violates every CHECK of the schema, with valid rows that have one wrong value.
@Suite struct CheckTests {
    /// For each constraint: the table, and changes to a valid row that violate the constraint. A change maps the name
    /// of a column to the SQL of its wrong value.
    static let cases: [String: (table: String, changes: [[String: String]])] = [
        "tenants_slug_form": (
            "tenants",
            ["''", "'-a'", "'a-'", "'A'", "'a_b'", "'a' || chr(10)", "repeat('a', 64)"].map { ["slug": $0] }
        ),
        "tenants_name_length": ("tenants", [["name": "''"], ["name": "repeat('é', 129)"]]),
        "tenants_key_limit_range": ("tenants", outOfRange("key")),
        "tenants_key_limit_is_whole": ("tenants", [["key_rate": "1"], ["key_burst": "1"]]),
        "tenants_client_limit_range": ("tenants", outOfRange("client")),
        "tenants_client_limit_is_whole": ("tenants", [["client_rate": "1"], ["client_burst": "1"]]),
        "tenants_new_instance_limit_range": ("tenants", outOfRange("new_instance")),
        "tenants_new_instance_limit_is_whole": (
            "tenants", [["new_instance_rate": "1"], ["new_instance_burst": "1"]]
        ),
        "tenants_client_new_instance_limit_range": ("tenants", outOfRange("client_new_instance")),
        "tenants_client_new_instance_limit_is_whole": (
            "tenants", [["client_new_instance_rate": "1"], ["client_new_instance_burst": "1"]]
        ),
        "tenants_quotas_is_object": ("tenants", [["quotas": "'[]'"], ["quotas": "'1'"]]),
        "clips_bundle_id_form": (
            "clips",
            [
                ["bundle_id": "'a b.Clip'", "parent_bundle_id": "'a b'"],
                ["bundle_id": "'a..Clip'", "parent_bundle_id": "'a'"],
                ["bundle_id": "repeat('a', 151) || '.Clip'", "parent_bundle_id": "repeat('a', 151)"],
            ]
        ),
        "clips_parent_is_prefix": (
            "clips",
            ["'com.example.Other'", "'com.example.App.Clip'", "'com.example.Ap'"].map {
                ["parent_bundle_id": $0]
            }
        ),
        "clips_team_id_form": (
            "clips", ["'ABCDE1234'", "'abcde12345'", "'ABCDE123456'"].map { ["team_id": $0] }
        ),
        "clips_app_id_prefix_form": (
            "clips", ["'ABCDE1234'", "'abcde12345'", "''"].map { ["app_id_prefix": $0] }
        ),
        "clips_attestation_is_object": ("clips", ["'[]'", "'null'", "'1'"].map { ["attestation": $0] }),
        "clips_attestation_length": (
            "clips", [["attestation": "jsonb_build_object('a', repeat('x', 1024))"]]
        ),
        "clips_app_store_id_form": (
            "clips", ["''", "'0'", "'1a'", "'12345678901234567890'"].map { ["app_store_id": $0] }
        ),
        "clips_android_url_form": (
            "clips",
            ["'http://a'", "'https://' || repeat('a', 2041)"].map { ["android_url": $0] }
        ),
        "clips_site_name_length": ("clips", [["site_name": "''"], ["site_name": "repeat('é', 129)"]]),
        "clips_card_is_object": ("clips", invalidCards), "clips_card_length": ("clips", longCards),
        "locations_card_is_object": ("locations", invalidCards),
        "locations_card_length": ("locations", longCards),
        "experiences_card_is_object": ("experiences", invalidCards),
        "experiences_card_length": ("experiences", longCards),
        "card_images_sha256_form": (
            "card_images", ["''", "repeat('A', 64)", "repeat('a', 63)"].map { ["sha256": $0] }
        ),
        "card_images_media_type": ("card_images", [["media_type": "'image/gif'"]]),
        "card_images_byte_count_range": (
            "card_images", [["byte_count": "0"], ["byte_count": "10485761"]]
        ),
        "card_image_bytes_sha256": ("card_image_bytes", [["bytes": "'\\x02'"]]),
        "app_store_connections_key_id_form": (
            "app_store_connections", ["''", "'a b'", "repeat('a', 65)"].map { ["key_id": $0] }
        ),
        "app_store_connections_issuer_id_form": (
            "app_store_connections", ["''", "'a b'", "repeat('a', 65)"].map { ["issuer_id": $0] }
        ),
        "app_store_connections_sealed_secret_length": (
            "app_store_connections",
            ["sha256('')", "convert_to(repeat('a', 4097), 'UTF8')"].map { ["sealed_secret": $0] }
        ),
        "app_store_checks_found": (
            "app_store_checks", ["checked_at", "counts", "summary", "findings_digest"].map { [$0: "NULL"] }
        ),
        "app_store_checks_summary_length": (
            "app_store_checks", [["summary": "jsonb_build_object('a', repeat('x', 4194304))"]]
        ),
        "app_store_checks_findings_digest_length": (
            "app_store_checks", [["findings_digest": "''"], ["findings_digest": "sha512('f')"]]
        ),
        "app_store_checks_failure_length": (
            "app_store_checks", ["''", "repeat('a', 129)"].map { ["failure": $0] }
        ),
        "app_store_check_rows_row_json_length": (
            "app_store_check_rows", [["row_json": "jsonb_build_object('a', repeat('x', 1048576))"]]
        ),
        "app_store_experiences_phase": (
            "app_store_experiences", [["phase": "'removed'", "remote_id": "NULL"]]
        ),
        "app_store_experiences_remote_id": (
            "app_store_experiences", [["remote_id": "NULL"], ["phase": "'creating'"]]
        ),
        "app_store_experiences_remote_id_length": (
            "app_store_experiences", ["''", "repeat('a', 257)"].map { ["remote_id": $0] }
        ),
        "app_store_experiences_content_length": (
            "app_store_experiences", [["content": "jsonb_build_object('a', repeat('x', 131072))"]]
        ),
        "app_store_experiences_missing_listings_range": (
            "app_store_experiences", [["missing_listings": "-1"], ["missing_listings": "101"]]
        ),
        "app_store_removals_remote_id_length": (
            "app_store_removals", ["''", "repeat('a', 257)"].map { ["remote_id": $0] }
        ),
        "app_store_refusals_content_length": (
            "app_store_refusals", [["content": "jsonb_build_object('a', repeat('x', 131072))"]]
        ),
        "app_store_refusals_code_length": (
            "app_store_refusals", ["''", "repeat('a', 129)"].map { ["code": $0] }
        ),
        "app_store_images_sha256_form": (
            "app_store_images", ["''", "repeat('A', 64)"].map { ["sha256": $0] }
        ),
        "app_store_images_phase": (
            "app_store_images", [["phase": "'lost'", "sealed_operations": "NULL"]]
        ),
        "app_store_images_sealed_operations": (
            "app_store_images", [["sealed_operations": "NULL"], ["phase": "'complete'"]]
        ),
        "app_store_images_sealed_operations_length": (
            "app_store_images", [["sealed_operations": "sha256('')"]]
        ),
        "app_store_images_remote_id_length": (
            "app_store_images", ["''", "repeat('a', 257)"].map { ["remote_id": $0] }
        ),
        "app_store_runs_outcome": (
            "app_store_runs", [["outcome": "'lost'", "ended_at": "now()"]]
        ),
        "app_store_runs_ended": (
            "app_store_runs", [["outcome": "'done'"], ["ended_at": "now()"]]
        ),
        "app_store_budget_spent_range": (
            "app_store_budget", [["spent": "-1"], ["spent": "10000001"]]
        ),
        "attest_keys_key_id_length": (
            "attest_keys", ["sha224('a')", "sha384('a')"].map { ["key_id": $0] }
        ),
        "revoked_attest_keys_key_id_length": (
            "revoked_attest_keys", ["sha224('a')", "sha384('a')"].map { ["key_id": $0] }
        ),
        "instances_attest_key_id_length": (
            "instances", ["sha224('a')", "sha384('a')"].map { ["attest_key_id": $0] }
        ),
        "attestation_days_operation": ("attestation_days", [["operation": "'compose'"]]),
        "attestation_days_counts": (
            "attestation_days", ["by_token", "signed", "not_attested"].map { [$0: "-1"] }
        ),
        "refused_requests_at_is_finite": ("refused_requests", [["at": "'infinity'"]]),
        "refused_requests_request_id_length": (
            "refused_requests", ["''", "repeat('a', 129)"].map { ["request_id": $0] }
        ),
        "refused_requests_endpoint_length": (
            "refused_requests", ["''", "repeat('a', 257)"].map { ["endpoint": $0] }
        ),
        "refused_requests_status_range": ("refused_requests", ["399", "600"].map { ["status": $0] }),
        "refused_requests_code_length": (
            "refused_requests", ["''", "repeat('a', 65)"].map { ["code": $0] }
        ),
        "launch_days_day_is_finite": ("launch_days", [["day": "'infinity'"]]),
        "launch_days_location_length": ("launch_days", [["location_identifier": "repeat('a', 129)"]]),
        "launch_days_experience_url_length": (
            "launch_days", ["''", "repeat('a', 2049)"].map { ["experience_url": $0] }
        ),
        "launch_days_source": ("launch_days", [["source": "'fax'"]]),
        "launch_days_counts": ("launch_days", ["lookups", "launch_reports"].map { [$0: "-1"] }),
        "attest_keys_environment": ("attest_keys", [["environment": "'sandbox'"]]),
        "attest_keys_public_key_length": ("attest_keys", [["public_key": "sha512('a')"]]),
        "attest_keys_attestation_digest_length": (
            "attest_keys", ["sha224('a')", "sha384('a')"].map { ["attestation_digest": $0] }
        ),
        "attest_keys_counter_range": ("attest_keys", ["-1", "4294967296"].map { ["counter": $0] }),
        "attest_keys_bundle_version_length": (
            "attest_keys", [["bundle_version": "repeat('a', 256)"]]
        ),
        "domains_content_is_object": ("domains", ["'[]'", "'null'", "'1'"].map { ["content": $0] }),
        "domains_content_length": (
            "domains", [["content": "jsonb_build_object('a', repeat('x', 131072))"]]
        ),
        "domains_host_form": (
            "domains",
            ["'localhost'", "'Example.com'", "'example.com.'", "'a..b'", "repeat('a.', 126) || 'bb'"]
                .map { ["host": $0] }
        ),
        "domains_method": ("domains", [["method": "'mail'", "proved_at": "now()"]]),
        "domains_pages": ("domains", ["'yes'", "''"].map { ["pages": $0] }),
        "domains_proof": ("domains", [["proved_at": "now()"], ["method": "'dns'"]]),
        "locations_identifier_length": (
            "locations", [["identifier": "''"], ["identifier": "repeat('é', 129)"]]
        ),
        "locations_name_length": ("locations", [["name": "''"], ["name": "repeat('é', 129)"]]),
        "locations_latitude_range": (
            "locations", ["90.0000001", "-90.0000001", "'NaN'", "'Infinity'"].map { ["latitude": $0] }
        ),
        "locations_longitude_range": (
            "locations", ["180.0000001", "-180.0000001", "'NaN'", "'-Infinity'"].map { ["longitude": $0] }
        ),
        "locations_radius_range": (
            "locations", ["0", "-1", "500.0000001", "'NaN'", "'Infinity'"].map { ["radius": $0] }
        ),
        "locations_metadata_is_object": (
            "locations", ["'[]'", "'null'", "'1'", "'\"x\"'"].map { ["metadata": $0] }
        ),
        "locations_details_are_texts": (
            "locations",
            [
                "'[]'", "'null'", "'1'", "'\"x\"'", "'{}'", "'[\"x\"]'", #"'{"a": 1}'"#,
                #"'{"a": "x", "b": null}'"#,
                #"'{"a": {}}'"#, #"'{"a": ["x"]}'"#, #"'{"a": ""}'"#,
            ].map { ["details": $0] }
        ),
        "locations_details_length": (
            "locations",
            [
                "jsonb_build_object('a', repeat('x', 4089))", "jsonb_build_object('a', repeat('é', 2045))",
                "jsonb_build_object('a', 'x', 'b', repeat('x', 4081))",
            ].map { ["details": $0] }
        ),
        "experiences_kind": ("experiences", [["kind": "'other'"], ["kind": "''"]]),
        "experiences_url_form": (
            "experiences",
            [
                "'http://example.com/a'", "'example.com/a'", "''",
                "'https://example.com/a?' || repeat('a', 2027)",
            ]
            .map { ["url": $0] }
        ),
        "experiences_one_binding": ("experiences", [["identifier_rule": "'path:1'"]]),
        "experiences_identifier_rule_form": (
            "experiences",
            ["''", "'path:0'", "'path:'", "'path:1x'", "'query:'", "'hash:'", "'coordinates:a'", "'other:a'"]
                .map { ["identifier_rule": $0, "location_identifier": "NULL"] }
        ),
        "experiences_title_length": ("experiences", [["title": "''"], ["title": "repeat('é', 31)"]]),
        "experiences_subtitle_length": (
            "experiences", [["subtitle": "''"], ["subtitle": "repeat('é', 57)"]]
        ),
        "short_codes_code_length": ("short_codes", [["code": "''"], ["code": "repeat('é', 129)"]]),
        "short_codes_url_form": (
            "short_codes",
            [["url": "'http://example.com'"], ["url": "'https://example.com/' || repeat('a', 2029)"]]
        ),
        "api_keys_kind": ("api_keys", [["kind": "'other'"]]),
        "api_keys_digest_length": (
            "api_keys", [["digest": "''"], ["digest": #"'\x00'"#], ["digest": "sha512('')"]]
        ),
        "api_keys_name_length": ("api_keys", [["name": "''"], ["name": "repeat('a', 129)"]]),
        "api_keys_name_characters": (
            "api_keys", [["name": #"E'a\nb'"#], ["name": #"E'\u0085'"#]]
        ),
        "api_keys_hint_length": ("api_keys", [["hint": "'dsk_test_abcdefgh'"]]),
        "api_keys_scopes": (
            "api_keys",
            [
                ["scopes": "'{}'"], ["scopes": "'{other}'"], ["scopes": "'{lookup,NULL}'"],
                ["scopes": "'{compose}'", "kind": "'publishable'"],
                ["scopes": "'{register,notify}'", "kind": "'publishable'"],
                ["scopes": "'{lookup,read}'", "kind": "'publishable'"],
                ["scopes": "'{manage}'", "kind": "'publishable'"],
                ["scopes": "'{manage_keys}'", "kind": "'publishable'"],
            ]
        ),
        "api_keys_locations": (
            "api_keys",
            [
                ["locations": "'{}'"], ["locations": "'{a,NULL}'"], ["locations": "'{\"\"}'"],
                ["locations": "array_fill('a'::text, ARRAY[101])"],
                ["locations": "'{a}'", "kind": "'publishable'", "scopes": "'{lookup}'"],
                ["locations": "'{a}'", "scopes": "'{lookup,manage}'"],
                ["locations": "'{a}'", "scopes": "'{manage_keys}'"],
            ]
        ),
        "api_keys_locations_characters": (
            "api_keys",
            ["ARRAY[E'a\\nb']", "ARRAY['a\u{85}']", "ARRAY['a', E'\\x7f']"].map { ["locations": $0] }
        ),
        "confirmations_location_length": (
            "confirmations", [["location_identifier": "''"], ["location_identifier": "repeat('é', 129)"]]
        ),
        "confirmations_outcome": ("confirmations", [["outcome": "'maybe'"]]),
        "confirmations_attestation": ("confirmations", ["-1", "3"].map { ["attestation": $0] }),
        "confirmations_source": ("confirmations", [["source": "'radio'"]]),
        "confirmations_minute_is_whole": (
            "confirmations",
            ["'2026-01-02 03:04:01Z'", "'2026-01-02 03:04:00.000001Z'", "'infinity'"].map { ["minute": $0] }
        ),
        "tenants_collapse_policy": (
            "tenants", [["collapse_policy": "''"], ["collapse_policy": "'other'"]]
        ),
        "tenants_cors_origins": (
            "tenants",
            [
                "ARRAY['*']", "ARRAY['https://a.example', NULL]", "ARRAY['https://a.example/']",
                "array_fill('https://a.example'::text, ARRAY[17])",
                "array_fill('https://' || repeat('a', 4088), ARRAY[1])",
            ].map { ["cors_origins": $0] }
        ),
        "instances_app": ("instances", [["app": "'widget'"]]),
        "instances_environment": ("instances", [["environment": "'development'"]]),
        "instances_permission": (
            "instances", [["permission": "''"], ["permission": "'not_determined'"]]
        ),
        "launches_url_form": (
            "launches",
            [["url": "'http://example.com'"], ["url": "'https://example.com/' || repeat('a', 2029)"]]
        ),
        "launches_experience_url_length": (
            "launches", [["experience_url": "'https://example.com/' || repeat('a', 2029)"]]
        ),
        "launches_location_length": (
            "launches", [["location_identifier": "''"], ["location_identifier": "repeat('é', 129)"]]
        ),
        "launches_confirmed_at_is_of_location": ("launches", [["location_identifier": "NULL"]]),
        "push_tokens_kind": ("push_tokens", [["kind": "'voip'"]]),
        "push_tokens_name": (
            "push_tokens",
            [
                ["name": "'a'"], ["kind": "'start'"], ["kind": "'activity'"],
                ["kind": "'start'", "name": "repeat('é', 129)"],
            ]
        ),
        "push_tokens_digest_length": (
            "push_tokens", [["digest": "''"], ["digest": "sha512('')"]]
        ),
        "push_tokens_sealed_length": (
            "push_tokens",
            [["sealed": "sha256('')"], ["sealed": "convert_to(repeat('a', 513), 'UTF8')"]]
        ),
        "channels_environment": ("channels", [["environment": "'development'"]]),
        "channels_channel_id_length": (
            "channels", [["channel_id": "''"], ["channel_id": "repeat('a', 129)"]]
        ),
        "notifications_url_length": ("notifications", [["url": "repeat('a', 2049)"]]),
        "notifications_push_type": ("notifications", [["push_type": "'voip'"]]),
        "notifications_priority": ("notifications", [["priority": "0"], ["priority": "7"]]),
        "notifications_collapse_id_length": (
            "notifications", [["collapse_id": "''"], ["collapse_id": "repeat('é', 33)"]]
        ),
        "notifications_expiration_range": ("notifications", [["expiration": "-1"]]),
        "notifications_payload_length": (
            "notifications",
            [["payload": "''"], ["payload": "convert_to(repeat('a', 5121), 'UTF8')"]]
        ),
        "deliveries_token_kind": ("deliveries", [["token_kind": "'voip'"]]),
        "deliveries_has_receiver": (
            "deliveries", [["instance_id": "NULL"], ["token_kind": "'channel'", "token_name": "'c'"]]
        ),
        "deliveries_environment": ("deliveries", [["environment": "'development'"]]),
        "deliveries_state": (
            "deliveries",
            [["state": "'lost'", "attempt": "1", "due_at": "NULL", "finished_at": "now()"]]
        ),
        "deliveries_due_until_final": (
            "deliveries",
            [
                ["due_at": "NULL"], ["state": "'sending'", "attempt": "1", "due_at": "NULL"],
                ["state": "'delivered'", "attempt": "1", "finished_at": "now()"],
            ]
        ),
        "deliveries_finished_when_final": (
            "deliveries",
            [["finished_at": "now()"], ["state": "'delivered'", "attempt": "1", "due_at": "NULL"]]
        ),
        "deliveries_attempted": (
            "deliveries",
            [
                ["state": "'sending'"],
                ["state": "'delivered'", "due_at": "NULL", "finished_at": "now()"],
                [
                    "state": "'skipped'", "reason": "'denied'", "attempt": "1", "due_at": "NULL",
                    "finished_at": "now()",
                ],
            ]
        ),
        "deliveries_reason_given": (
            "deliveries",
            [
                ["state": "'skipped'", "due_at": "NULL", "finished_at": "now()"],
                ["state": "'refused'", "attempt": "1", "due_at": "NULL", "finished_at": "now()"],
            ]
        ),
        "deliveries_lost_replies_range": (
            "deliveries", [["lost_replies": "-1"], ["lost_replies": "1"]]
        ),
        "notifications_experience_kind": ("notifications", [["experience_kind": "'simple'"]]),
        "deliveries_target_length": (
            "deliveries", [["target": "''"], ["target": "repeat('a', 2049)"]]
        ),
        "audience_cursors_delivery_count_range": ("audience_cursors", [["delivery_count": "-1"]]),
        "idempotency_keys_key_length": (
            "idempotency_keys", [["key": "''"], ["key": "repeat('é', 128)"]]
        ),
        "idempotency_keys_digest_length": (
            "idempotency_keys", [["request_digest": "''"], ["request_digest": "sha512('')"]]
        ),
        "idempotency_keys_claim": (
            "idempotency_keys",
            [
                ["notification_id": "gen_random_uuid()"], ["claim_id": "NULL"], ["claimed_until": "NULL"],
                ["claim_id": "NULL", "claimed_until": "NULL"],
                [
                    "claim_id": "NULL", "claimed_until": "NULL", "notification_id": "gen_random_uuid()",
                    "performed_at": "now()",
                ],
                [
                    "claim_id": "NULL", "claimed_until": "NULL", "notification_id": "gen_random_uuid()",
                    "sealed_response": "sha256('')",
                ],
            ]
        ),
        "idempotency_keys_sealed_response_length": (
            "idempotency_keys",
            [["sealed_response": "''"], ["sealed_response": "convert_to(repeat('a', 262145), 'UTF8')"]]
        ),
        "webhooks_url_length": (
            "webhooks", [["url": "'https:/'"], ["url": "'https://' || repeat('a', 2041)"]]
        ),
        "webhooks_name_length": ("webhooks", [["name": "''"], ["name": "repeat('a', 129)"]]),
        "webhooks_name_characters": (
            "webhooks", [["name": #"E'a\nb'"#], ["name": #"E'\u0085'"#]]
        ),
        "webhooks_sealed_secret_length": (
            "webhooks",
            [
                ["sealed_secret": "sha256('')"],
                ["sealed_secret": "convert_to(repeat('a', 513), 'UTF8')"],
            ]
        ),
        "webhooks_previous_sealed_secret_length": (
            "webhooks",
            ["sha256('')", "convert_to(repeat('a', 513), 'UTF8')"].map {
                ["previous_sealed_secret": $0, "previous_secret_ends_at": "now()"]
            }
        ),
        "webhooks_previous_secret_ends": (
            "webhooks", [["previous_sealed_secret": "sha512('s')"]]
        ),
        "webhooks_events": (
            "webhooks",
            ["'{}'", "'{other}'", "'{key.revoked,other}'", "'{doorstep.test}'"].map { ["events": $0] }
        ),
        "webhooks_disabled_reason": (
            "webhooks",
            [
                ["disabled_at": "now()"], ["disabled_reason": "'r'"],
                ["disabled_at": "now()", "disabled_reason": "''"],
                ["disabled_at": "now()", "disabled_reason": "repeat('é', 201)"],
            ]
        ),
        "webhook_messages_type_length": (
            "webhook_messages", [["type": "''"], ["type": "repeat('a', 65)"]]
        ),
        "webhook_messages_state": (
            "webhook_messages", [["state": "'lost'", "due_at": "NULL"]]
        ),
        "webhook_messages_due": (
            "webhook_messages", [["due_at": "NULL"], ["state": "'taken'"], ["state": "'given_up'"]]
        ),
        "webhook_messages_trace_context": (
            "webhook_messages", [["trace_context": "''"], ["trace_context": "repeat('A', 32) || '-01'"]]
        ),
        "notifications_trace_context": (
            "notifications", [["trace_context": "''"], ["trace_context": "repeat('a', 32) || '-1'"]]
        ),
        "webhook_messages_attempts_are_a_list": (
            "webhook_messages", ["'{}'", "'null'", "'1'"].map { ["attempts": $0] }
        ),
        "events_type_length": (
            "events", [["type": "''"], ["type": "repeat('a', 65)"]]
        ),
        "webhook_responses_at_length": (
            "webhook_responses", ["'2026-03-01'", "repeat('1', 33)"].map { ["at": $0] }
        ),
        "webhook_responses_body_length": (
            "webhook_responses", ["''", "convert_to(repeat('a', 4097), 'UTF8')"].map { ["body": $0] }
        ),
        "audit_log_action": (
            "audit_log", [["action": "'truncate'", "before": "'{}'"]]
        ),
        "audit_log_states": (
            "audit_log",
            [
                ["before": "'{}'"], ["after": "NULL"], ["action": "'update'"],
                ["action": "'update'", "before": "'{}'", "after": "NULL"],
                ["action": "'delete'", "before": "'{}'"], ["action": "'delete'", "after": "NULL"],
            ]
        ),
    ]

    private static let invalidCards = ["'[]'", "'{}'", "'null'", "'{\"image\": \"a\"}'"].map {
        ["card": $0]
    }
    private static let longCards = [["card": "jsonb_build_object('a', repeat('x', 65536))"]]

    private static func outOfRange(_ limit: String) -> [[String: String]] {
        [("0", "1"), ("1", "0"), ("-1", "1"), ("1000001", "1"), ("1", "1000001")].map {
            ["\(limit)_rate": $0, "\(limit)_burst": $1]
        }
    }

    @Test func everyCheckRejectsInvalidRows() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            let checks = try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT conname::text FROM pg_constraint
                        WHERE connamespace = 'doorstep'::regnamespace AND contype = 'c'
                            AND conrelid NOT IN ('doorstep.change_horizon'::regclass, 'doorstep.console_links'::regclass,
                                'doorstep.console_sessions'::regclass, 'doorstep.console_events'::regclass,
                                'doorstep.console_key'::regclass, 'doorstep.token_secrets'::regclass,
                                'doorstep.servers'::regclass)
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
            }
            #expect(Set(checks) == Set(Self.cases.keys), "a CHECK without a case, or a case without a CHECK")

            // The database accepts each row without its change, so that a refusal is due to the change.
            try await database.insertSampleRows(of: tenant)
            for login in [TestLogin.admin, .app, .migrate] {
                try await database.withPool(as: login) { pool in
                    for (check, (name, changes)) in Self.cases {
                        let table = try #require(SampleRows.tables.first { $0.name == name })
                        for change in changes where table.login == login {
                            await #expect {
                                try await pool.withTransaction { transaction in
                                    try await transaction.setTenant(tenant.description)
                                    try await transaction.execute(
                                        script: SampleRows.insertion(into: table, of: tenant, with: change))
                                }
                            } throws: { ($0 as? PostgreSQLError)?.isCheckViolation(check) == true }
                        }
                    }
                }
            }
        }
    }

    /// If the constraint lacks a value, the database refuses the whole batch that contains it.
    @Test func schemaAcceptsAllOutcomesAndSources() async throws {
        let names: [String: Set<String>] = [
            "confirmations_outcome": Set(Confirmation.Outcome.allCases.map(\.rawValue)),
            "confirmations_source": Set(InvocationSource.allCases.map(\.rawValue)),
            "launch_days_source": Set(InvocationSource.allCases.map(\.rawValue)),
        ]
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                try await pool.withConnection { connection in
                    for (check, expected) in names {
                        let definition = try await connection.execute(
                            """
                            SELECT pg_get_constraintdef(oid) FROM pg_constraint
                            WHERE conname = \(check)
                                AND conrelid IN ('doorstep.confirmations'::regclass, 'doorstep.launch_days'::regclass)
                            """
                        ).one().decode(at: 0, as: String.self)
                        let taken = definition.matches(of: /'([A-Za-z_]+)'/).map { String($0.1) }
                        #expect(Set(taken) == expected, "\(check)")
                    }
                }
            }
        }
    }

    /// `change_horizon` always has exactly one row.
    @Test func changeHorizonHasOneRow() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                for (isOnly, expected) in [("true", "23505"), ("false", "23514")] {
                    let state = try await sqlState {
                        try await pool.withTransaction {
                            try await $0.execute(
                                script: "INSERT INTO doorstep.change_horizon VALUES (\(isOnly), '1')")
                        }
                    }
                    #expect(state == expected)
                }
            }
        }
    }
}
