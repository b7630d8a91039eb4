import Foundation
import Logging
import Metrics
import Persistence
import ServiceLifecycle
import Tenancy

/// Updates the metrics of the tenants' quota usage while the server runs.
struct QuotaService: Service {
    let usage: PostgresQuotaUsage
    let logger: Logger

    /// The interval between two updates. [ours]
    private static let pause = Duration.seconds(30)
    /// The maximum number of series: the fullest quotas of all tenants. [ours]
    private static let maximumCount = 200

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var meters: [PostgresQuotaUsage.Share.Quota: Meter] = [:]
            while !Task.isCancelled {
                do {
                    let shares = try await usage.fullest(limit: Self.maximumCount)
                    let measured = Set(shares.map(\.quota))
                    for (quota, meter) in meters where !measured.contains(quota) {
                        meter.destroy()
                        meters[quota] = nil
                    }
                    for share in shares {
                        let meter =
                            meters[share.quota] ?? Meter(label: "doorstep_quota_used_ratio", share.quota)
                        meter.set(share.used)
                        meters[share.quota] = meter
                    }
                } catch {
                    guard !Task.isCancelled else { break }
                    logger.warning("cannot read the usage of quotas", metadata: ["error": "\(error)"])
                }
                // Delayed randomly, so that servers do not read at the same time.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
    }
}

extension Meter {
    fileprivate convenience init(label: String, _ quota: PostgresQuotaUsage.Share.Quota) {
        self.init(
            label: label,
            dimensions: [
                ("tenant", "\(quota.tenant)"), ("kind", quota.kind.rawValue), ("unit", quota.unit.rawValue),
            ])
    }
}
