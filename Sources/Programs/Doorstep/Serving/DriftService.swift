import AppStoreConnect
import Foundation
import Logging
import Metrics
import Persistence
import Registration
import ServiceLifecycle
import Tenancy

/// Looks from time to time whether App Store Connect still has what was registered, as long as the server runs.
///
/// Of several servers one looks at a connection, and all measure what it found. Nothing is written at Apple.
struct DriftService: Service {
    let checks: PostgresRegistrationChecks
    let access: StoreAccess
    /// Between two looks at one connection.
    let interval: Duration
    let logger: Logger

    /// Between two looks at whether one is due. [ours]
    private static let pause = Duration.seconds(60)
    /// After so long a check counts as lost with its server: one may have to wait an hour for its budget. [ours]
    private static let lease = Duration.seconds(3 * 3_600)
    /// After a check that failed, at most. [ours]
    private static let patience = Duration.seconds(3_600)
    private static let atOnce = 10

    func run() async throws {
        let figures = DriftFigures()
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    for (tenant, clip) in try await checks.due(limit: Self.atOnce) {
                        guard try await checks.claim(clip, of: tenant, for: Self.lease) else { continue }
                        try await look(at: clip, of: tenant)
                    }
                    figures.update(try await checks.figures(limit: DriftFigures.maximumCount))
                } catch {
                    guard !Task.isCancelled else { return }
                    logger.warning(
                        "App Store Connect is not looked at yet", metadata: ["error": "\(error)"])
                }
                // Not all servers at once.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
    }

    private func look(at clip: BundleID, of tenant: TenantID) async throws {
        let place: Logger.Metadata = ["tenant": "\(tenant)", "clip": "\(clip)"]
        do {
            let (_, check) = try await access.withRegistrar(of: clip, tenant, readsOnly: true) {
                try await $0.look()
            }
            let isAnother = try await checks.record(check, of: tenant, again: interval)
            Counter(label: "doorstep_app_store_checks", dimensions: [("result", "done")]).increment()
            guard isAnother else { return }
            logger.notice(
                "App Store Connect has other than what was registered, or has it no more",
                metadata: place.merging(["findings": "\(check.findings.count)"]) { _, new in new })
        } catch {
            guard !Task.isCancelled else { throw error }
            let code = (error as? ServiceFailure)?.code ?? (error as? RegistrationError)?.code ?? "failed"
            Counter(label: "doorstep_app_store_checks", dimensions: [("result", "failed")]).increment()
            logger.warning(
                "App Store Connect could not be looked at",
                metadata: place.merging(["error": "\(error)"]) { _, new in new })
            try await checks.note(
                failure: code, of: clip, of: tenant, again: min(Self.patience, interval))
        }
    }
}

/// How the experiences of each connected clip are, as far as the last check saw them.
final class DriftFigures: Sendable {
    /// More connections are not measured. [ours]
    static let maximumCount = 200

    func update(_ figures: [PostgresRegistrationChecks.Figures]) {
        for clip in figures {
            let place = [("tenant", "\(clip.tenant)"), ("clip", clip.clip.text)]
            for (state, count) in clip.counts {
                Meter(label: "doorstep_app_store_experiences", dimensions: place + [("state", state)])
                    .set(count)
            }
            if let checkedAt = clip.checkedAt {
                Meter(label: "doorstep_app_store_check_age_seconds", dimensions: place)
                    .set(max(0, Date().timeIntervalSince(checkedAt)))
            }
            let failing: Int = clip.failure == nil ? 0 : 1
            Meter(label: "doorstep_app_store_check_failing", dimensions: place).set(failing)
        }
    }
}
