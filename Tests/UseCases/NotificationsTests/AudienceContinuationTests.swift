import Foundation
import Notifications
import Synchronization
import Tenancy
import Testing

@Suite(.timeLimit(.minutes(30))) struct AudienceContinuationTests {
    private struct Broken: Error {}

    /// A store with one part for each of three tenants. It can fail.
    private final class Store: NotificationStore {
        private let state: Mutex<(failures: Int, left: [TenantID])>
        private let broken: TenantID?

        /// - Parameters:
        ///   - failures: The number of times that the search for audiences fails.
        ///   - broken: The tenant whose part cannot be stored.
        init(_ tenants: [TenantID], failures: Int = 0, broken: TenantID? = nil) {
            state = Mutex((failures, tenants))
            self.broken = broken
        }

        func tenantsWithAudiencesToContinue() async throws -> [TenantID] {
            try state.withLock { state in
                guard state.failures == 0 else {
                    state.failures -= 1
                    throw Broken()
                }
                return state.left
            }
        }

        func continueAudience(of tenant: TenantID) async throws -> AudiencePart? {
            guard tenant != broken else { throw Broken() }
            return state.withLock { state in
                guard state.left.contains(tenant) else { return nil }
                state.left.removeAll { $0 == tenant }
                return AudiencePart(notification: NotificationID(tenant.uuid), counts: [], isLast: true)
            }
        }

        func add(
            _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
        ) async throws -> Addition { throw Broken() }
        func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition? { nil }
        func cancel(
            _ id: NotificationID, of tenant: TenantID, by actor: String
        ) async throws -> Cancellation { .unknown }

        func trace(
            _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
        ) async throws -> NotificationTrace? { nil }
    }

    /// The events until this number of parts is stored.
    private func events(_ store: Store, until parts: Int) async -> [String] {
        let events = Mutex<[String]>([])
        let gate = Gate()
        let continuation = AudienceContinuation(store, pollInterval: .milliseconds(1))
        // The task is cancelled when this function returns.
        async let _: Void = continuation.run { event in
            let isEnough = events.withLock { events in
                switch event {
                case .taken(let part): events.append("taken \(part.notification)")
                case .failed: events.append("failed")
                case .unavailable: events.append("unavailable")
                }
                return events.count { $0.hasPrefix("taken") } == parts
            }
            if isEnough { gate.open() }
        }
        await gate.pass()
        return events.withLock { $0 }
    }

    private let tenants = (0..<3).map { _ in TenantID(UUID()) }

    private func taken(_ tenant: TenantID) -> String { "taken \(NotificationID(tenant.uuid))" }

    @Test func failedPartDoesNotDelayOthers() async {
        let events = await events(Store(tenants, broken: tenants[0]), until: 2)
        #expect(events.prefix(3) == ["failed", taken(tenants[1]), taken(tenants[2])])
    }

    @Test func unavailabilityIsReportedOnce() async {
        let events = await events(Store([tenants[0]], failures: 3), until: 1)
        #expect(events == ["unavailable", taken(tenants[0])])
    }
}
