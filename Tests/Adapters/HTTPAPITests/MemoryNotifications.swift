import APNsPayload
import Foundation
import Invocation
import Notifications
import Synchronization
import Tenancy

/// Stores notifications in memory. A test sets the candidates.
final class MemoryNotifications: NotificationStore {
    private struct Key: Hashable {
        let tenant: TenantID
        let text: String
        var locations: Set<LocationIdentifier>?
    }

    private struct State {
        var candidates: [TenantID: [Candidate]] = [:]
        var traces: [Key: NotificationTrace] = [:]
        var keys: [Key: (request: [UInt8], trace: NotificationTrace)] = [:]
        var isAway = false
        var quota: QuotaExceeded?
        /// Notifications whose audience is not complete yet.
        var incomplete: [(tenant: TenantID, notification: NotificationID)] = []
        var partSize = Int.max
        /// Whether the tenants are test tenants.
        var areOfTest = false
    }

    private let state = Mutex(State())

    func makeTestTenants() { state.withLock { $0.areOfTest = true } }

    var count: Int { state.withLock { $0.traces.count } }

    /// Sets the candidates for all audiences of a tenant.
    func reach(_ candidates: [Candidate], of tenant: TenantID) {
        state.withLock { $0.candidates[tenant] = candidates }
    }

    /// Limits the size of an audience's parts.
    func limitParts(to count: Int) { state.withLock { $0.partSize = count } }

    /// Makes the store unavailable.
    func goAway() { state.withLock { $0.isAway = true } }

    /// Makes the tenant exceed a quota.
    func refuse(_ quota: QuotaExceeded) { state.withLock { $0.quota = quota } }

    /// Changes the deliveries of a notification, as responses of APNs do.
    func response(_ id: NotificationID, of tenant: TenantID, _ change: (RecordedDelivery) -> RecordedDelivery)
    {
        state.withLock { state in
            let key = Key(tenant: tenant, text: id.description)
            guard let trace = state.traces[key] else { return }
            let deliveries = trace.deliveries.map(change)
            state.traces[key] = NotificationTrace(
                notification: trace.notification, counts: Self.counts(deliveries), deliveries: deliveries,
                hasMore: false)
        }
    }

    func cancel(
        _ id: NotificationID, of tenant: TenantID, by actor: String
    ) async throws -> Cancellation {
        state.withLock { state in
            let key = Key(tenant: tenant, text: id.description)
            guard let trace = state.traces[key] else { return .unknown }
            let notification = trace.notification
            guard notification.cancelledAt == nil else { return .cancelled }
            let isUnfinished = trace.counts.contains { $0.state == .queued || $0.state == .sending }
            guard isUnfinished || !trace.isComplete else { return .finished }
            state.incomplete.removeAll { $0.tenant == tenant && $0.notification == id }
            let deliveries = trace.deliveries.map { delivery in
                delivery.state != .queued
                    ? delivery
                    : RecordedDelivery(
                        id: delivery.id, instance: delivery.instance, receiver: delivery.receiver,
                        environment: delivery.environment, state: .expired, reason: DeliveryVerdict.cancelled,
                        expiresAt: delivery.expiresAt)
            }
            state.traces[key] = NotificationTrace(
                notification: RecordedNotification(
                    id: notification.id, createdAt: notification.createdAt, url: notification.url,
                    experienceURL: notification.experienceURL, experienceKind: notification.experienceKind,
                    clip: notification.clip, location: notification.location, audience: notification.audience,
                    headers: notification.headers, payload: notification.payload,
                    warnings: notification.warnings, cancelledAt: Date(timeIntervalSince1970: 0)),
                counts: Self.counts(deliveries), deliveries: deliveries, hasMore: false)
            return .cancelled
        }
    }

    func tenantsWithAudiencesToContinue() async throws -> [TenantID] {
        state.withLock { Array(Set($0.incomplete.map(\.tenant))) }
    }

    /// Adds the rest of an audience.
    func continueAudience(of tenant: TenantID) async throws -> AudiencePart? {
        state.withLock { state in
            guard let index = state.incomplete.firstIndex(where: { $0.tenant == tenant }) else { return nil }
            let id = state.incomplete.remove(at: index).notification
            let key = Key(tenant: tenant, text: id.description)
            guard let trace = state.traces[key] else { return nil }
            let earlier = Set(trace.deliveries.compactMap(\.instance))
            let later = (state.candidates[tenant] ?? []).filter { !earlier.contains($0.instance) }.map {
                RecordedDelivery(
                    id: DeliveryID(UUID()), instance: $0.instance, receiver: .device,
                    environment: $0.environment, state: .queued, expiresAt: nil)
            }
            let all = (trace.deliveries + later).sorted { $0.id.description < $1.id.description }
            state.traces[key] = NotificationTrace(
                notification: trace.notification, counts: Self.counts(all), deliveries: all, hasMore: false)
            return AudiencePart(notification: id, counts: Self.counts(later), isLast: true)
        }
    }

    func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition {
        try state.withLock { state in
            guard !state.isAway else { throw StoreUnavailable() }
            var distribution = distribution
            if state.areOfTest {
                do throws(IntakeRefusal) { distribution = try distribution.inSandboxOnly() } catch {
                    return .refused(error)
                }
            }
            if let quota = state.quota { throw quota }
            if let key, let known = state.keys[Key(tenant: tenant, text: key.text, locations: key.locations)]
            {
                return known.request == key.request ? .repeated(known.trace) : .refused(.idempotencyKeyReused)
            }
            if case .channel = distribution.audience { return .refused(.unknownChannel) }
            let candidates = (state.candidates[tenant] ?? []).filter { candidate in
                // The location of a Live Activity is unknown.
                if case .activity(let instance, _) = distribution.audience {
                    return candidate.instance == instance
                }
                return !distribution.notification.audience.isOfLocation || candidate.launchedAtBusiness != nil
            }
            guard !distribution.namesInstance || !candidates.isEmpty else {
                return .refused(.unknownInstance)
            }
            let deliveries = candidates.prefix(state.partSize)
                .map { distribution.delivery(to: $0, id: DeliveryID(UUID())) }
                .sorted { $0.id.description < $1.id.description }
            let trace = NotificationTrace(
                notification: distribution.notification,
                counts: Self.counts(deliveries), deliveries: deliveries, hasMore: false,
                isComplete: deliveries.count == candidates.count)
            if !trace.isComplete { state.incomplete.append((tenant, trace.notification.id)) }
            state.traces[Key(tenant: tenant, text: trace.notification.id.description)] = trace
            if let key {
                let name = Key(tenant: tenant, text: key.text, locations: key.locations)
                state.keys[name] = (key.request, trace)
            }
            return .added(trace)
        }
    }

    private static func counts(_ deliveries: [RecordedDelivery]) -> [DeliveryCount] {
        Dictionary(grouping: deliveries) { "\($0.state.rawValue) \($0.reason ?? "")" }.values.map {
            DeliveryCount(state: $0[0].state, reason: $0[0].reason, count: $0.count)
        }
    }

    func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition? {
        try state.withLock { state in
            guard !state.isAway else { throw StoreUnavailable() }
            return state.keys[Key(tenant: tenant, text: key.text, locations: key.locations)].map {
                $0.request == key.request ? .repeated($0.trace) : .refused(.idempotencyKeyReused)
            }
        }
    }

    func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace? {
        try state.withLock { state in
            guard !state.isAway else { throw StoreUnavailable() }
            guard let trace = state.traces[Key(tenant: tenant, text: id.description)] else { return nil }
            let rest = trace.deliveries.filter { $0.id.description > last?.description ?? "" }
            return NotificationTrace(
                notification: trace.notification, counts: trace.counts,
                deliveries: Array(rest.prefix(limit)), hasMore: rest.count > limit,
                isComplete: trace.isComplete)
        }
    }
}

extension Candidate {
    /// An instance that was launched at the business a minute ago.
    static func sample(
        clip: String = "com.example.MyApp.Clip", permission: NotificationPermission = .ephemeral,
        environment: APNsEnvironment = .production, launch: URLLaunch? = nil
    ) throws -> Candidate {
        let now = Date()
        return Candidate(
            instance: InstanceID(UUID()), clip: try BundleID(clip), app: .clip, environment: environment,
            permission: permission, launchedAt: now - 60, launchedAtBusiness: now - 60, launch: launch,
            confirmedAt: nil, token: .good, hasOtherBusiness: false)
    }
}
