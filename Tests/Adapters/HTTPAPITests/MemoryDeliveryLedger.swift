import Foundation
import Notifications
import Synchronization
import Tenancy

/// A ledger with the deliveries of a test. It records retries.
final class MemoryDeliveryLedger: DeliveryLedger {
    struct Retry: Hashable {
        let selection: DeliverySelection
        let tenant: TenantID
        let limit: Int?
        let actor: String?
    }

    private struct State {
        var deliveries: [TenantID: [ListedDelivery]] = [:]
        var retries: [Retry] = []
    }

    private let state = Mutex(State())

    var retries: [Retry] { state.withLock { $0.retries } }

    func add(_ delivery: ListedDelivery, of tenant: TenantID) {
        state.withLock { $0.deliveries[tenant, default: []].append(delivery) }
    }

    func deliveries(
        _ selection: DeliverySelection, of tenant: TenantID, before last: DeliveryID?, limit: Int
    ) async throws -> [ListedDelivery] {
        state.withLock { state in
            (state.deliveries[tenant] ?? []).filter { listed in
                last.map { listed.delivery.id.description < $0.description } != false
                    && (selection.ids.isEmpty || selection.ids.contains(listed.delivery.id))
                    && selection.state.map { listed.delivery.state == $0 } != false
                    && selection.reason.map { listed.delivery.reason == $0 } != false
                    && selection.since.map { listed.createdAt >= $0 } != false
            }.sorted { $0.delivery.id.description > $1.delivery.id.description }.prefix(limit).map(\.self)
        }
    }

    func counts(
        _ selection: DeliverySelection, of tenant: TenantID, limit: Int
    ) async throws -> [DeliveryCount] { [] }

    func retriable(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, upTo limit: Int
    ) async throws -> Int {
        try await deliveries(selection, of: tenant, before: nil, limit: limit).count(
            where: \.delivery.isRetriable)
    }

    func retry(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, expecting expected: Int?,
        upTo limit: Int?, by actor: String?
    ) async throws -> RetryCounts {
        state.withLock {
            $0.retries.append(Retry(selection: selection, tenant: tenant, limit: limit, actor: actor))
        }
        return RetryCounts(
            queued: try await retriable(selection, of: tenant, at: now, upTo: limit ?? .max), tooLate: 0)
    }

    func hasNotificationOrDelivery(_ id: UUID, of tenant: TenantID) async throws -> Bool {
        try await notification(of: DeliveryID(id), of: tenant) != nil
    }

    func notification(of delivery: DeliveryID, of tenant: TenantID) async throws -> NotificationID? {
        try await deliveries(DeliverySelection(ids: [delivery]), of: tenant, before: nil, limit: 1).first?
            .notification
    }
}
