import Foundation
import Lookups
import Metrics
import Persistence
import Synchronization
import Tenancy

/// What is measured when somebody asks: the routing table, and the confirmations that wait.
final class ServerMetrics: Sendable {
    private let table: LiveLookupIndex
    private let confirmations: ConfirmationQueue
    private let age = Meter(label: "doorstep_lookup_index_age_seconds")
    private let experiences = Meter(label: "doorstep_lookup_index_experiences")
    private let locations = Meter(label: "doorstep_lookup_index_locations")
    private let memory = Meter(label: "doorstep_lookup_index_bytes")
    private let waiting = Meter(label: "doorstep_confirmations_waiting")
    private let dropped = Counter(label: "doorstep_confirmations_dropped")
    private let countedDropped = Mutex(0)
    private let quarantined = Mutex<[TenantID: Meter]>([:])
    /// So many quarantined tenants have a series. [ours]
    private static let mostTenants = 100

    init(_ table: LiveLookupIndex, _ confirmations: ConfirmationQueue) {
        self.table = table
        self.confirmations = confirmations
    }

    func update() {
        if let state = table.current {
            age.set(max(0, Date().timeIntervalSince(state.asOf)))
            experiences.set(state.table.experienceCount)
            locations.set(state.table.locationCount)
            memory.set(state.table.memory)
        }
        updateQuarantine()
        waiting.set(confirmations.count)
        countedDropped.withLock { counted in
            let all = confirmations.droppedCount
            dropped.increment(by: all - counted)
            counted = all
        }
    }

    private func updateQuarantine() {
        let tenants = table.quarantined
        let now = Date()
        quarantined.withLock { meters in
            for (tenant, meter) in meters where tenants[tenant] == nil {
                meter.destroy()
                meters[tenant] = nil
            }
            for (tenant, since) in tenants where meters[tenant] != nil || meters.count < Self.mostTenants {
                let meter =
                    meters[tenant]
                    ?? Meter(
                        label: "doorstep_lookup_index_quarantined_seconds",
                        dimensions: [("tenant", "\(tenant)")])
                meter.set(max(0, now.timeIntervalSince(since)))
                meters[tenant] = meter
            }
        }
    }
}
