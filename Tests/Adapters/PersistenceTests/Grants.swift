/// The rights of each role of Doorstep in the schema, without the owner's rights.
///
/// A test compares them with the database. A missing grant fails it, and so does an additional one.
enum Grants {
    /// If a grant is for some columns only, the line lists these columns.
    static let expected = """
        doorstep_admin DELETE api_keys
        doorstep_admin DELETE app_store_budget
        doorstep_admin DELETE app_store_check_rows
        doorstep_admin DELETE app_store_checks
        doorstep_admin DELETE app_store_connections
        doorstep_admin DELETE app_store_experiences
        doorstep_admin DELETE app_store_images
        doorstep_admin DELETE app_store_refusals
        doorstep_admin DELETE app_store_removals
        doorstep_admin DELETE app_store_runs
        doorstep_admin DELETE attest_keys
        doorstep_admin DELETE attestation_days
        doorstep_admin DELETE audience_cursors
        doorstep_admin DELETE card_image_bytes
        doorstep_admin DELETE card_images
        doorstep_admin DELETE channels
        doorstep_admin DELETE clips
        doorstep_admin DELETE confirmations
        doorstep_admin DELETE console_links
        doorstep_admin DELETE console_sessions
        doorstep_admin DELETE deliveries
        doorstep_admin DELETE domains
        doorstep_admin DELETE events
        doorstep_admin DELETE experiences
        doorstep_admin DELETE idempotency_keys
        doorstep_admin DELETE instances
        doorstep_admin DELETE launches
        doorstep_admin DELETE locations
        doorstep_admin DELETE notifications
        doorstep_admin DELETE push_tokens
        doorstep_admin DELETE revoked_attest_keys
        doorstep_admin DELETE short_codes
        doorstep_admin DELETE tenants
        doorstep_admin DELETE token_secrets
        doorstep_admin DELETE webhook_messages
        doorstep_admin DELETE webhooks
        doorstep_admin EXECUTE prune_console_events(integer)
        doorstep_admin EXECUTE record_act(text,text,jsonb,jsonb)
        doorstep_admin EXECUTE tenant_quotas(uuid)
        doorstep_admin INSERT api_keys
        doorstep_admin INSERT app_store_budget
        doorstep_admin INSERT app_store_check_rows
        doorstep_admin INSERT app_store_checks
        doorstep_admin INSERT app_store_connections
        doorstep_admin INSERT app_store_experiences
        doorstep_admin INSERT app_store_images
        doorstep_admin INSERT app_store_refusals
        doorstep_admin INSERT app_store_removals
        doorstep_admin INSERT app_store_runs
        doorstep_admin INSERT card_image_bytes
        doorstep_admin INSERT card_images
        doorstep_admin INSERT clips
        doorstep_admin INSERT console_events (event, name)
        doorstep_admin INSERT console_links
        doorstep_admin INSERT console_sessions
        doorstep_admin INSERT domains
        doorstep_admin INSERT event_recordings
        doorstep_admin INSERT events
        doorstep_admin INSERT experiences
        doorstep_admin INSERT locations
        doorstep_admin INSERT revoked_attest_keys
        doorstep_admin INSERT short_codes
        doorstep_admin INSERT tenants
        doorstep_admin INSERT webhook_messages
        doorstep_admin INSERT webhooks
        doorstep_admin SELECT api_keys
        doorstep_admin SELECT app_store_budget
        doorstep_admin SELECT app_store_check_rows
        doorstep_admin SELECT app_store_checks
        doorstep_admin SELECT app_store_connections
        doorstep_admin SELECT app_store_experiences
        doorstep_admin SELECT app_store_images
        doorstep_admin SELECT app_store_refusals
        doorstep_admin SELECT app_store_removals
        doorstep_admin SELECT app_store_runs
        doorstep_admin SELECT attest_keys
        doorstep_admin SELECT attestation_days
        doorstep_admin SELECT audience_cursors
        doorstep_admin SELECT audit_log
        doorstep_admin SELECT card_image_bytes
        doorstep_admin SELECT card_images
        doorstep_admin SELECT channels
        doorstep_admin SELECT clips
        doorstep_admin SELECT confirmations
        doorstep_admin SELECT console_events
        doorstep_admin SELECT console_key
        doorstep_admin SELECT console_links
        doorstep_admin SELECT console_sessions
        doorstep_admin SELECT deliveries
        doorstep_admin SELECT domain_checks
        doorstep_admin SELECT domains
        doorstep_admin SELECT event_recordings
        doorstep_admin SELECT events
        doorstep_admin SELECT experiences
        doorstep_admin SELECT idempotency_keys
        doorstep_admin SELECT instances
        doorstep_admin SELECT launch_days
        doorstep_admin SELECT launches
        doorstep_admin SELECT locations
        doorstep_admin SELECT notifications
        doorstep_admin SELECT push_tokens (instance_id, kind, name, registered_at, retired_at, tenant_id)
        doorstep_admin SELECT quota_defaults
        doorstep_admin SELECT refused_requests
        doorstep_admin SELECT revoked_attest_keys
        doorstep_admin SELECT row_counts
        doorstep_admin SELECT schema_migrations
        doorstep_admin SELECT short_codes
        doorstep_admin SELECT tenant_usage
        doorstep_admin SELECT tenants
        doorstep_admin SELECT token_secrets
        doorstep_admin SELECT webhook_messages
        doorstep_admin SELECT webhook_responses
        doorstep_admin SELECT webhooks
        doorstep_admin UPDATE api_keys (expires_at, name, revoked_at, successor_id)
        doorstep_admin UPDATE app_store_budget (spent)
        doorstep_admin UPDATE app_store_checks (checked_at, counts, due_at, failure, findings_digest, summary)
        doorstep_admin UPDATE app_store_connections (connected_at, issuer_id, key_id, sealed_secret)
        doorstep_admin UPDATE app_store_experiences (content, missing_listings, phase, remote_id, sent_at, undesired_since)
        doorstep_admin UPDATE app_store_images (phase, remote_id, reserved_at, sealed_operations)
        doorstep_admin UPDATE app_store_refusals (code, content, refused_at, request_id, source)
        doorstep_admin UPDATE app_store_runs (ended_at, outcome)
        doorstep_admin UPDATE clips (android_url, app_id_prefix, app_store_id, attestation, card, card_image, multi_business, parent_bundle_id, site_name, team_id)
        doorstep_admin UPDATE console_sessions (seen_at)
        doorstep_admin UPDATE deliveries (due_at, finished_at, lost_replies, state)
        doorstep_admin UPDATE domains (challenge, checked_at, claimed_at, content, contested_at, lapsed_at, method, pages, proved_at)
        doorstep_admin UPDATE event_recordings (ends_at, first_xid)
        doorstep_admin UPDATE experiences (bundle_id, card, card_image, identifier_rule, location_identifier, subtitle, title)
        doorstep_admin UPDATE locations (card, card_image, details, latitude, longitude, metadata, name, radius)
        doorstep_admin UPDATE quota_defaults (maximum_bytes, maximum_rows)
        doorstep_admin UPDATE short_codes (url)
        doorstep_admin UPDATE tenants (client_burst, client_new_instance_burst, client_new_instance_rate, client_rate, collapse_policy, cors_origins, key_burst, key_rate, name, new_instance_burst, new_instance_rate, quotas, suspended_at)
        doorstep_admin UPDATE webhook_messages (attempt, due_at, queued_at, state)
        doorstep_admin UPDATE webhooks (disabled_at, disabled_reason, events, failing_since, name, previous_sealed_secret, previous_secret_ends_at, sealed_secret, secret_changed_at, url)
        doorstep_admin USAGE doorstep
        doorstep_app DELETE api_keys
        doorstep_app DELETE app_store_budget
        doorstep_app DELETE app_store_check_rows
        doorstep_app DELETE attest_keys
        doorstep_app DELETE attestation_days
        doorstep_app DELETE audience_cursors
        doorstep_app DELETE channels
        doorstep_app DELETE event_recordings
        doorstep_app DELETE idempotency_keys
        doorstep_app DELETE instances
        doorstep_app DELETE launch_days
        doorstep_app DELETE launches
        doorstep_app DELETE push_tokens
        doorstep_app DELETE refused_requests
        doorstep_app DELETE revoked_attest_keys
        doorstep_app DELETE webhook_messages
        doorstep_app DELETE webhook_responses
        doorstep_app EXECUTE record_act(text,text,jsonb,jsonb)
        doorstep_app INSERT app_store_budget
        doorstep_app INSERT app_store_check_rows
        doorstep_app INSERT app_store_checks
        doorstep_app INSERT attest_keys
        doorstep_app INSERT attestation_days
        doorstep_app INSERT audience_cursors
        doorstep_app INSERT channels
        doorstep_app INSERT confirmations
        doorstep_app INSERT deliveries
        doorstep_app INSERT domain_checks
        doorstep_app INSERT events
        doorstep_app INSERT idempotency_keys
        doorstep_app INSERT instances
        doorstep_app INSERT launch_days
        doorstep_app INSERT launches
        doorstep_app INSERT notifications
        doorstep_app INSERT push_tokens
        doorstep_app INSERT refused_requests
        doorstep_app INSERT webhook_messages
        doorstep_app INSERT webhook_responses
        doorstep_app SELECT api_keys (key_id, last_used_on, revoked_at, tenant_id)
        doorstep_app SELECT app_store_budget
        doorstep_app SELECT app_store_check_rows
        doorstep_app SELECT app_store_checks
        doorstep_app SELECT app_store_connections
        doorstep_app SELECT app_store_experiences
        doorstep_app SELECT app_store_images (bundle_id, holder, phase, remote_id, reserved_at, sha256, tenant_id)
        doorstep_app SELECT app_store_refusals
        doorstep_app SELECT app_store_removals
        doorstep_app SELECT app_store_runs (actor, bundle_id, ended_at, run_id, started_at, tenant_id)
        doorstep_app SELECT attest_keys
        doorstep_app SELECT attestation_days
        doorstep_app SELECT audience_cursors
        doorstep_app SELECT card_images (byte_count, sha256, tenant_id)
        doorstep_app SELECT channels
        doorstep_app SELECT clips
        doorstep_app SELECT deliveries
        doorstep_app SELECT domain_checks
        doorstep_app SELECT domains
        doorstep_app SELECT event_recordings
        doorstep_app SELECT events
        doorstep_app SELECT experiences
        doorstep_app SELECT idempotency_keys
        doorstep_app SELECT instances
        doorstep_app SELECT launch_days
        doorstep_app SELECT launches
        doorstep_app SELECT locations
        doorstep_app SELECT notifications
        doorstep_app SELECT push_tokens
        doorstep_app SELECT refused_requests
        doorstep_app SELECT revoked_attest_keys
        doorstep_app SELECT schema_migrations
        doorstep_app SELECT short_codes
        doorstep_app SELECT tenants
        doorstep_app SELECT webhook_messages
        doorstep_app SELECT webhook_responses
        doorstep_app SELECT webhooks
        doorstep_app UPDATE api_keys (last_used_on)
        doorstep_app UPDATE app_store_budget (spent)
        doorstep_app UPDATE app_store_checks (checked_at, counts, due_at, failure, findings_digest, summary)
        doorstep_app UPDATE app_store_experiences (undesired_since)
        doorstep_app UPDATE attest_keys (counter, last_used_on)
        doorstep_app UPDATE attestation_days (by_token, not_attested, signed)
        doorstep_app UPDATE audience_cursors (delivery_count, due_at, instance_id, launched_at, url)
        doorstep_app UPDATE deliveries (answers, attempt, due_at, finished_at, lost_replies, reason, state)
        doorstep_app UPDATE domain_checks (began_at, contested_at, due_at)
        doorstep_app UPDATE event_recordings (ends_at)
        doorstep_app UPDATE idempotency_keys (claim_id, claimed_until, performed_at, sealed_response)
        doorstep_app UPDATE instances (app, attest_key_id, bundle_id, environment, launched_at, permission, updated_at)
        doorstep_app UPDATE launch_days (launch_reports, lookups)
        doorstep_app UPDATE launches (confirmed_at, experience_url, launched_at, location_identifier)
        doorstep_app UPDATE notifications (cancelled_at, skipped)
        doorstep_app UPDATE push_tokens (digest, registered_at, retired_at, sealed)
        doorstep_app UPDATE webhook_messages (attempt, attempts, due_at, state)
        doorstep_app UPDATE webhooks (disabled_at, disabled_reason, failing_since)
        doorstep_app USAGE doorstep
        doorstep_manager DELETE app_store_connections
        doorstep_manager DELETE card_image_bytes
        doorstep_manager DELETE card_images
        doorstep_manager DELETE channels
        doorstep_manager DELETE clips
        doorstep_manager DELETE domains
        doorstep_manager DELETE events
        doorstep_manager DELETE experiences
        doorstep_manager DELETE instances
        doorstep_manager DELETE locations
        doorstep_manager DELETE short_codes
        doorstep_manager DELETE webhook_messages
        doorstep_manager DELETE webhooks
        doorstep_manager EXECUTE record_act(text,text,jsonb,jsonb)
        doorstep_manager EXECUTE tenant_quotas(uuid)
        doorstep_manager INSERT api_keys
        doorstep_manager INSERT card_image_bytes
        doorstep_manager INSERT card_images
        doorstep_manager INSERT clips
        doorstep_manager INSERT domains
        doorstep_manager INSERT event_recordings
        doorstep_manager INSERT events
        doorstep_manager INSERT experiences
        doorstep_manager INSERT locations
        doorstep_manager INSERT revoked_attest_keys
        doorstep_manager INSERT short_codes
        doorstep_manager INSERT webhook_messages
        doorstep_manager INSERT webhooks
        doorstep_manager SELECT api_keys (created_at, expires_at, hint, key_id, kind, last_used_on, locations, name, revoked_at, scopes, successor_id, tenant_id)
        doorstep_manager SELECT app_store_check_rows
        doorstep_manager SELECT app_store_checks
        doorstep_manager SELECT app_store_connections (bundle_id, key_id, tenant_id)
        doorstep_manager SELECT attest_keys (attested_on, bundle_id, bundle_version, category, environment, key_id, last_used_on, tenant_id)
        doorstep_manager SELECT attestation_days
        doorstep_manager SELECT audit_log
        doorstep_manager SELECT card_image_bytes
        doorstep_manager SELECT card_images
        doorstep_manager SELECT channels
        doorstep_manager SELECT clips
        doorstep_manager SELECT confirmations
        doorstep_manager SELECT deliveries
        doorstep_manager SELECT domain_checks
        doorstep_manager SELECT domains
        doorstep_manager SELECT event_recordings
        doorstep_manager SELECT events
        doorstep_manager SELECT experiences
        doorstep_manager SELECT idempotency_keys (claim_id, key, tenant_id)
        doorstep_manager SELECT instances
        doorstep_manager SELECT launch_days
        doorstep_manager SELECT launches
        doorstep_manager SELECT locations
        doorstep_manager SELECT notifications
        doorstep_manager SELECT push_tokens (instance_id, kind, name, registered_at, retired_at, tenant_id)
        doorstep_manager SELECT quota_defaults
        doorstep_manager SELECT refused_requests
        doorstep_manager SELECT revoked_attest_keys
        doorstep_manager SELECT row_counts
        doorstep_manager SELECT short_codes
        doorstep_manager SELECT tenant_usage
        doorstep_manager SELECT tenants
        doorstep_manager SELECT webhook_messages
        doorstep_manager SELECT webhook_responses
        doorstep_manager SELECT webhooks
        doorstep_manager UPDATE api_keys (expires_at, name, revoked_at, successor_id)
        doorstep_manager UPDATE clips (android_url, app_id_prefix, app_store_id, attestation, card, card_image, multi_business, parent_bundle_id, site_name, team_id)
        doorstep_manager UPDATE deliveries (due_at, finished_at, lost_replies, state)
        doorstep_manager UPDATE domains (challenge, checked_at, claimed_at, content, contested_at, lapsed_at, method, pages, proved_at)
        doorstep_manager UPDATE event_recordings (ends_at, first_xid)
        doorstep_manager UPDATE experiences (bundle_id, card, card_image, identifier_rule, location_identifier, subtitle, title)
        doorstep_manager UPDATE idempotency_keys (performed_at)
        doorstep_manager UPDATE locations (card, card_image, details, latitude, longitude, metadata, name, radius)
        doorstep_manager UPDATE short_codes (url)
        doorstep_manager UPDATE tenants (collapse_policy, cors_origins, name)
        doorstep_manager UPDATE webhook_messages (attempt, due_at, queued_at, state)
        doorstep_manager UPDATE webhooks (disabled_at, disabled_reason, events, failing_since, name, previous_sealed_secret, previous_secret_ends_at, sealed_secret, secret_changed_at, url)
        doorstep_manager USAGE doorstep
        doorstep_router DELETE servers
        doorstep_router EXECUTE add_confirmation_days()
        doorstep_router EXECUTE add_notification_days()
        doorstep_router EXECUTE drop_confirmation_days(integer)
        doorstep_router EXECUTE drop_notification_days(integer)
        doorstep_router EXECUTE index_confirmation_days()
        doorstep_router EXECUTE prune_audit_log(integer)
        doorstep_router EXECUTE prune_changes()
        doorstep_router EXECUTE tenant_quotas(uuid)
        doorstep_router EXECUTE trim_audit_log(uuid)
        doorstep_router INSERT servers
        doorstep_router SELECT api_keys (digest, expires_at, key_id, kind, locations, revoked_at, scopes, tenant_id)
        doorstep_router SELECT app_store_checks (bundle_id, checked_at, counts, due_at, failure, tenant_id)
        doorstep_router SELECT app_store_connections (bundle_id, tenant_id)
        doorstep_router SELECT attest_keys (last_used_on, tenant_id)
        doorstep_router SELECT attestation_days (day, tenant_id)
        doorstep_router SELECT audience_cursors (due_at, tenant_id)
        doorstep_router SELECT change_horizon
        doorstep_router SELECT changes
        doorstep_router SELECT clips (android_url, app_id_prefix, app_store_id, attestation, bundle_id, card, card_image, multi_business, parent_bundle_id, site_name, team_id, tenant_id)
        doorstep_router SELECT deliveries (due_at, tenant_id)
        doorstep_router SELECT domain_checks (began_at, contested_at, due_at, host, tenant_id)
        doorstep_router SELECT domains (checked_at, content, contested_at, host, pages, proved_at, tenant_id)
        doorstep_router SELECT event_recordings (ends_at, tenant_id)
        doorstep_router SELECT experiences (bundle_id, card, card_image, identifier_rule, kind, location_identifier, subtitle, tenant_id, title, url)
        doorstep_router SELECT idempotency_keys (created_at, tenant_id)
        doorstep_router SELECT instances (launched_at, tenant_id)
        doorstep_router SELECT launch_days (day, tenant_id)
        doorstep_router SELECT locations (card, card_image, details, identifier, latitude, longitude, name, radius, tenant_id)
        doorstep_router SELECT push_tokens (kind, registered_at, tenant_id)
        doorstep_router SELECT quota_defaults
        doorstep_router SELECT refused_requests (entry_id, tenant_id)
        doorstep_router SELECT revoked_attest_keys (key_id, revoked_at, tenant_id)
        doorstep_router SELECT row_counts
        doorstep_router SELECT servers
        doorstep_router SELECT short_codes (code, tenant_id, url)
        doorstep_router SELECT tenant_usage
        doorstep_router SELECT tenants (client_burst, client_new_instance_burst, client_new_instance_rate, client_rate, cors_origins, key_burst, key_rate, name, new_instance_burst, new_instance_rate, quotas, slug, suspended_at, tenant_id)
        doorstep_router SELECT token_secrets
        doorstep_router SELECT webhook_messages (created_at, due_at, tenant_id, webhook_id)
        doorstep_router UPDATE servers (ended_at, seen_at)
        doorstep_router USAGE doorstep
        public EXECUTE current_tenant_id()
        """
}
