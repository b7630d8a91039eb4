import Logging
import Metrics
import Notifications
import OutboundHTTP
import ServiceLifecycle
import TenantSites

/// Sends messages to tenants' webhooks while the server runs.
///
/// At the end, it gives running messages back, and another server sends them.
struct WebhookService: Service {
    private let store: any WebhookStore
    private let logger: Logger
    private let outbound: OutboundClient.Settings

    init(_ store: any WebhookStore, outbound: OutboundClient.Settings, logger: Logger) {
        self.store = store
        self.outbound = outbound
        self.logger = logger
    }

    func run() async throws {
        Self.showCounters()
        try await OutboundClient.withClient(outbound) { client in
            let dispatcher = WebhookDispatcher(store, StandardWebhookSender(client), onEvent: report)
            await withGracefulShutdownHandler {
                await dispatcher.run()
            } onGracefulShutdown: {
                dispatcher.shutDown()
            }
        }
    }

    /// The counter is 0 from the start, because Prometheus does not see the increase of a counter that begins with 1.
    private static func showCounters() {
        _ = Counter(label: "doorstep_webhook_messages_given_up")
        _ = Counter(label: "doorstep_webhooks_disabled")
    }

    @Sendable private func report(_ event: WebhookDispatcher.Event) {
        switch event {
        case .replied(let webhook, let reply, let attempt):
            Counter(
                label: "doorstep_webhook_attempts",
                dimensions: [("result", reply.isTaken ? "taken" : "not_taken")]
            ).increment()
            guard !reply.isTaken else { return }
            logger.info(
                "a webhook did not accept a message",
                metadata: [
                    "tenant": "\(webhook.tenant)", "webhook": "\(webhook.id)", "reply": "\(reply)",
                    "attempt": "\(attempt)",
                ])
        case .gaveUp(let webhook, let count, let reply):
            Counter(label: "doorstep_webhook_messages_given_up").increment(by: count)
            logger.warning(
                "messages for a webhook were given up",
                metadata: [
                    "tenant": "\(webhook.tenant)", "webhook": "\(webhook.id)", "count": "\(count)",
                    "reply": "\(reply.map { "\($0)" } ?? "none in days")",
                ])
        case .switchedOff(let webhook, let reply):
            Counter(label: "doorstep_webhooks_disabled").increment()
            logger.warning(
                "a webhook is switched off",
                metadata: [
                    "tenant": "\(webhook.tenant)", "webhook": "\(webhook.id)", "reply": "\(reply)",
                ])
        case .failed(let webhook, let error):
            logger.warning(
                "webhook messages cannot be sent: trying again",
                metadata: [
                    "tenant": "\(webhook.map { "\($0.tenant)" } ?? "any")",
                    "webhook": "\(webhook.map { "\($0.id)" } ?? "any")", "error": "\(error)",
                ])
        case .abandoned(let count):
            logger.error(
                "the results of webhook messages cannot be stored: they are sent again with the same IDs",
                metadata: ["count": "\(count)"])
        }
    }
}
