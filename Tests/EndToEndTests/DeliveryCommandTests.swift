import Formats
import Foundation
import PostgreSQL
import TestSupport
import Testing

/// Sends and follows notifications with the command.
@Suite struct DeliveryCommandTests {
    private static let instance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let url = "https://example.com/restaurants/restaurant_a"

    /// An instance that has launched the clip. No secret in this test opens its token.
    private static let registration = """
        SELECT set_config('doorstep.tenant_id', tenant_id::text, false) FROM doorstep.tenants;
        INSERT INTO doorstep.instances
            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
        SELECT tenant_id, '\(instance)', 'com.example.MyApp.Clip', 'clip', 'production', 'ephemeral', now()
        FROM doorstep.tenants;
        INSERT INTO doorstep.launches
            (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
        SELECT tenant_id, '\(instance)', '\(url)/order/1', '\(url)', 'restaurant_a', now() FROM doorstep.tenants;
        INSERT INTO doorstep.push_tokens (tenant_id, instance_id, kind, digest, sealed, registered_at)
        SELECT tenant_id, '\(instance)', 'device', sha256('t'), sha512('t'), now() FROM doorstep.tenants
        """

    private static func withDatabase(_ installation: Installation, _ script: String) async throws {
        try await ConnectionPool.withPool(
            PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL)
        ) { pool in
            try await pool.withConnection { try await $0.execute(script: script) }
        }
    }

    @Test func notificationIsSentTracedAndRetried() async throws {
        try await Installation.lend { installation in
            try await Self.withDatabase(installation, Self.registration)
            let tenant = ["--tenant", Installation.tenant]
            let send = ["send"] + tenant + ["--url", Self.url, "--aps", #"{"alert":"Ready."}"#]
            let sent = try await installation.binary.succeed(
                send + ["--business", "--idempotency-key", "k"]
            ).json()
            let again = try await installation.binary.succeed(
                send + ["--business", "--idempotency-key", "k"]
            ).json()
            #expect(sent == again)
            let object = try #require(sent.objectValue)
            #expect(object["counts"] == ["queued": 1, "skipped": [:]])
            let id = try #require(object["id"]?.stringValue)
            let delivery = try #require(
                object["deliveries"]?.arrayValue?.first?.objectValue?["id"]?.stringValue)

            let refused = try await installation.binary.run(
                send + ["--instance", Self.instance, "--headers", #"{"priority":7}"#])
            #expect(refused.status == 1 && refused.errors.contains("headers.priority"))
            let unknown = try await installation.binary.run(
                send + ["--instance", "11111111-1111-4111-8111-111111111111"])
            #expect(
                unknown.status == 1 && (unknown.output + unknown.errors).contains("no instance has this ID"))
            let other = try await installation.binary.succeed(
                send + ["--url-prefix", Self.url + "/order/2"]
            ).json()
            #expect(other.objectValue?["deliveries"] == [])

            for named in [id, delivery] {
                let trace = try await installation.binary.succeed(
                    ["delivery", "trace", named, "--format", "json"] + tenant
                ).json()
                #expect(trace.objectValue?["id"]?.stringValue == id)
                #expect(
                    trace.objectValue?["deliveries"]?.arrayValue?.compactMap {
                        $0.objectValue?["id"]?.stringValue
                    }
                        == [delivery])
            }
            #expect(
                try await installation.binary.run(["delivery", "trace", Self.instance] + tenant).status == 1)

            try await Self.withDatabase(
                installation,
                """
                UPDATE doorstep.deliveries SET state = 'uncertain', reason = 'timed_out', due_at = NULL,
                    finished_at = now(), attempt = 3, lost_replies = 3
                """)
            let list = try await installation.binary.succeed(
                ["delivery", "list", "--state", "uncertain", "--format", "json"] + tenant
            ).json()
            #expect(list.arrayValue?.compactMap { $0.objectValue?["reason"]?.stringValue } == ["timed_out"])
            let none = try await installation.binary.succeed(
                ["delivery", "retry", "--state", "uncertain", "--reason", "other"] + tenant)
            #expect(none.output == "0 queued again, 0 too late, 0 with a dead token\n")
            let retried = try await installation.binary.succeed(["delivery", "retry", delivery] + tenant)
            #expect(retried.output == "1 queued again, 0 too late, 0 with a dead token\n")
            try await Self.withDatabase(
                installation,
                """
                UPDATE doorstep.deliveries SET state = 'refused', reason = 'BadTopic', due_at = NULL,
                    finished_at = now(), expires_at = now() - interval '1 second'
                """)
            let late = try await installation.binary.succeed(["delivery", "retry", delivery] + tenant)
            #expect(late.output == "0 queued again, 1 too late, 0 with a dead token\n")
            try await Self.withDatabase(
                installation, "UPDATE doorstep.deliveries SET reason = 'Unregistered', expires_at = NULL")
            let dead = try await installation.binary.succeed(["delivery", "retry", delivery] + tenant)
            #expect(dead.output == "0 queued again, 0 too late, 1 with a dead token\n")

            let finished = try await installation.binary.run(["delivery", "cancel", id] + tenant)
            #expect(finished.status == 1 && finished.errors.contains("are finished"))
            try await Self.withDatabase(
                installation,
                """
                UPDATE doorstep.deliveries SET state = 'queued', reason = NULL, due_at = now() + interval '1 hour',
                    finished_at = NULL, attempt = 0, lost_replies = 0
                """)
            let cancelled = try await installation.binary.succeed(["delivery", "cancel", id] + tenant)
            #expect(cancelled.output == "Cancelled notification \(id): 1 expired\n")
            let missing = try await installation.binary.run(
                ["delivery", "cancel", "018f3c2e-9c40-7a10-8000-3f1d5b7c9e21"] + tenant)
            #expect(missing.status == 1 && missing.errors.contains("no notification has this ID"))
            #expect(try await installation.binary.run(["delivery", "cancel", "x"] + tenant).status == 64)
        }
    }
}
