/// A metric of the server or its process.
///
/// The registry uses the help texts and buckets of this list. Tests compare the operations guide, the alert rules and the dashboard
/// with it.
struct MetricDescription: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The name in Prometheus, including unit and suffix.
    let name: String
    let kind: Kind
    let labels: [String]
    /// One sentence, without a period at its end.
    let help: String
    /// The upper bounds of a histogram's buckets, without the infinite last one.
    let buckets: [Double]

    init(
        _ name: String, _ kind: Kind, labels: [String] = [], buckets: [Double] = [], _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.buckets = buckets
    }

    /// The descriptions by name.
    static let known = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension MetricDescription {
    /// From a lookup in memory to a request that reaches every timeout. [ours]
    private static let requestSeconds = [0.000_1, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10]
    /// From Apple's usual response to the longest timeout. [ours]
    private static let outboundSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 60]
    /// A delivery can wait for hours while APNs or all servers are unavailable. [ours]
    private static let waitSeconds = [0.05, 0.25, 1, 5, 30, 120, 600, 3_600, 14_400, 86_400]

    /// All metrics in the order of their names.
    static let all: [MetricDescription] = [
        .init(
            "doorstep_apns_connections", .gauge, labels: ["environment"],
            "Open connections to APNs"),
        .init(
            "doorstep_apns_request_duration_seconds", .histogram, labels: ["environment"],
            buckets: outboundSeconds,
            "Time from a request to APNs to its response"),
        .init(
            "doorstep_apns_requests_in_flight", .gauge, labels: ["environment"],
            "Requests to APNs that wait for a response"),
        .init(
            "doorstep_apns_requests_total", .counter, labels: ["environment", "outcome", "reason"],
            "Requests to APNs, by outcome and APNs reason"),
        .init(
            "doorstep_apns_requests_waiting", .gauge, labels: ["environment"],
            "Requests to APNs that wait for a connection"),
        .init(
            "doorstep_appstore_check_age_seconds", .gauge, labels: ["tenant", "clip"],
            "Age of the latest check of a clip at App Store Connect"),
        .init(
            "doorstep_appstore_check_failing", .gauge, labels: ["tenant", "clip"],
            "1 if the latest check of a clip at App Store Connect failed, else 0"),
        .init(
            "doorstep_appstore_checks_total", .counter, labels: ["result"],
            "Checks at App Store Connect, by result"),
        .init(
            "doorstep_appstore_experiences", .gauge, labels: ["tenant", "clip", "state"],
            "Experiences of a clip, by their state at App Store Connect"),
        .init(
            "doorstep_attestation_checks_total", .counter, labels: ["operation", "result"],
            "Checks of App Attest evidence, by operation and result"),
        .init(
            "doorstep_build_info", .gauge, labels: ["version", "commit", "swift"],
            "1, with the version, commit and Swift version of the binary"),
        .init(
            "doorstep_confirmations_dropped_total", .counter,
            "Confirmations that got a response but could not be recorded"),
        .init(
            "doorstep_confirmations_total", .counter, labels: ["outcome"],
            "Confirmations, by outcome"),
        .init(
            "doorstep_confirmations_waiting", .gauge,
            "Confirmations that wait to be recorded"),
        .init(
            "doorstep_database_pool_connections", .gauge, labels: ["pool", "state"],
            "Connections to PostgreSQL, by pool and state"),
        .init(
            "doorstep_database_pool_limit", .gauge, labels: ["pool"],
            "Maximum number of connections to PostgreSQL of a pool"),
        .init(
            "doorstep_database_pool_wait_seconds_total", .counter, labels: ["pool"],
            "Time that tasks have waited for a connection of a pool"),
        .init(
            "doorstep_database_pool_waiting", .gauge, labels: ["pool"],
            "Tasks that wait for a connection of a pool"),
        .init(
            "doorstep_database_pool_waits_total", .counter, labels: ["pool"],
            "Tasks that had to wait for a connection of a pool"),
        .init(
            "doorstep_database_up", .gauge,
            "1 if the latest read of changes from the database succeeded, else 0"),
        .init(
            "doorstep_deliveries_in_flight", .gauge,
            "Deliveries that this server is sending"),
        .init(
            "doorstep_deliveries_overdue_seconds", .gauge,
            "Time since the oldest unsent delivery known to this server became due"),
        .init(
            "doorstep_deliveries_total", .counter, labels: ["outcome"],
            "Attempts of deliveries, and deliveries that ended without an attempt, by outcome"),
        .init(
            "doorstep_delivery_delay_seconds", .histogram, buckets: waitSeconds,
            "Time from a notification's acceptance to the first attempt of a delivery"),
        .init(
            "doorstep_domain_checks_total", .counter, labels: ["result"],
            "Checks of domain proofs, by result"),
        .init(
            "doorstep_http_active_requests", .gauge,
            "Requests that the server is handling, without those that it serves from the lookup index"),
        .init(
            "doorstep_http_connections", .gauge,
            "Open connections of clients"),
        .init(
            "doorstep_http_connections_limit", .gauge,
            "Maximum number of open connections of clients"),
        .init(
            "doorstep_http_request_duration_seconds", .histogram, labels: ["endpoint"],
            buckets: requestSeconds,
            "Time from a request to its response, by endpoint"),
        .init(
            "doorstep_http_requests_total", .counter, labels: ["endpoint", "method", "status"],
            "Requests, by endpoint, method and status"),
        .init(
            "doorstep_http_refusals_total", .counter, labels: ["limit"],
            "Requests that a limit refused, by limit"),
        .init(
            "doorstep_lookup_index_age_seconds", .gauge,
            "Time since the lookup index was last compared with the database"),
        .init(
            "doorstep_lookup_index_bytes", .gauge,
            "Memory of the lookup index"),
        .init(
            "doorstep_lookup_index_experiences", .gauge,
            "Experiences in the lookup index"),
        .init(
            "doorstep_lookup_index_locations", .gauge,
            "Locations in the lookup index"),
        .init(
            "doorstep_lookup_index_quarantined_seconds", .gauge, labels: ["tenant"],
            "Time for which a tenant's changes could not be read; at most 100 tenants"),
        .init(
            "doorstep_metrics_dropped_total", .counter,
            "Metrics that were not kept, because there were too many"),
        .init(
            "doorstep_notifications_total", .counter, labels: ["decision"],
            "Decisions about instances to which notifications were addressed: queued, or the reason for no notification"
        ),
        .init(
            "doorstep_queue_messages", .gauge, labels: ["queue"],
            "Messages that wait in the database, of all tenants; counted up to 100,000"),
        .init(
            "doorstep_queue_overdue_seconds", .gauge, labels: ["queue"],
            "Time since the oldest waiting message of all tenants became due"),
        .init(
            "doorstep_quota_used_ratio", .gauge, labels: ["tenant", "kind", "unit"],
            "Used share of a tenant's quota; the 200 fullest quotas"),
        .init(
            "doorstep_receipts_signed_total", .counter,
            "Signed receipts"),
        .init(
            "doorstep_tls_certificate_expiry_timestamp_seconds", .gauge,
            "When the certificate in --tls-certificate expires, in Unix time"),
        .init(
            "doorstep_token_secrets_unreadable", .gauge,
            "Secrets that were used to seal data in the database and are missing from DOORSTEP_TOKEN_SECRET"),
        .init(
            "doorstep_tokens_unreadable_total", .counter,
            "Deliveries that were put off, because no secret in DOORSTEP_TOKEN_SECRET opens the push token"),
        .init(
            "doorstep_trace_spans_dropped_total", .counter, labels: ["reason"],
            "Spans that were not exported, by reason"),
        .init(
            "doorstep_webhook_attempts_total", .counter, labels: ["result"],
            "Attempts to deliver webhook messages, by result"),
        .init(
            "doorstep_webhook_messages_given_up_total", .counter,
            "Webhook messages that were given up"),
        .init(
            "doorstep_webhooks_disabled_total", .counter,
            "Webhooks that this server switched off after failed attempts"),
        .init(
            "process_cpu_seconds_total", .counter,
            "Processor time of the process, in user and system mode"),
        .init(
            "process_max_fds", .gauge,
            "Maximum number of open file descriptors"),
        .init(
            "process_open_fds", .gauge,
            "Open file descriptors"),
        .init(
            "process_resident_memory_bytes", .gauge,
            "Resident memory"),
        .init(
            "process_start_time_seconds", .gauge,
            "When the process started, in Unix time"),
        .init(
            "process_threads", .gauge,
            "Threads of the process"),
    ]

    /// The table of the operations guide.
    static var markdown: String {
        var lines = ["| metric | type | |", "| --- | --- | --- |"]
        for metric in all {
            let labels = metric.labels.isEmpty ? "" : "{\(metric.labels.joined(separator: ","))}"
            lines.append("| `\(metric.name)\(labels)` | \(metric.kind.rawValue) | \(metric.help) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
