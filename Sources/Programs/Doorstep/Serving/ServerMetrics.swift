import Foundation
import HTTPServer
import Lookups
import Metrics
import Persistence
import Platform
import PostgreSQL
import Synchronization
import Tenancy

/// Updates the metrics of the server when they are read: lookup index, confirmations, pools, certificate and process.
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
    /// The maximum number of quarantined tenants with a series. [ours]
    private static let mostTenants = 100

    private let pools: [PoolMetrics]
    private let build = Meter(
        label: "doorstep_build_info",
        dimensions: [
            ("version", BuildInfo.current.version), ("commit", BuildInfo.current.commit),
            ("swift", BuildInfo.current.swift),
        ])
    private let process = ProcessMetrics()
    private let certificate: TLSIdentity?

    /// - Parameters:
    ///   - pools: The pools by name.
    ///   - certificate: The certificate that the server presents; nil without TLS.
    init(
        _ table: LiveLookupIndex, _ confirmations: ConfirmationQueue, pools: [String: ConnectionPool],
        certificate: TLSIdentity?
    ) {
        self.table = table
        self.confirmations = confirmations
        self.pools = pools.map { PoolMetrics($0, $1) }
        self.certificate = certificate
        build.set(1)
    }

    func update() {
        if let state = table.current {
            age.set(max(0, Date().timeIntervalSince(state.asOf)))
            experiences.set(state.table.experienceCount)
            locations.set(state.table.locationCount)
            memory.set(state.table.memory)
        }
        updateQuarantine()
        process.update()
        for pool in pools { pool.update() }
        updateCertificate()
        waiting.set(confirmations.count)
        countedDropped.withLock { counted in
            let all = confirmations.droppedCount
            dropped.increment(by: all - counted)
            counted = all
        }
    }

    private func updateCertificate() {
        guard let certificate else { return }
        Meter(label: "doorstep_tls_certificate_expiry_timestamp_seconds").set(
            certificate.expiresAt.timeIntervalSince1970)
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
