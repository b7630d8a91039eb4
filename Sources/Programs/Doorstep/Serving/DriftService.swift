import AppStoreConnect
import AppStoreSync
import Formats
import Foundation
import Logging
import Metrics
import Persistence
import ServiceLifecycle
import Synchronization
import Tenancy

/// Checks regularly whether App Store Connect still has the applied state, while the server runs.
///
/// One of several servers checks a connection, and all of them publish metrics of the result. Nothing is changed at Apple.
struct DriftService: Service {
    let checks: PostgresSyncChecks
    let access: StoreAccess
    /// The interval between two checks of one connection.
    let interval: Duration
    let logger: Logger

    /// The interval between two searches for due checks. [ours]
    private static let pause = Duration.seconds(60)
    /// The interval between two updates of the metrics. [ours]
    private static let measuringPause = Duration.seconds(15)
    /// The maximum time of a check. A check takes longer only if others use up the key's budget. [ours]
    private static let timeLimit = Duration.seconds(1_800)
    /// The time after which the check of a dead server is repeated. It exceeds the time of any check. [ours]
    private static let lease = timeLimit * 2
    /// The maximum pause after a failed check. [ours]
    private static let patience = Duration.seconds(3_600)
    /// The maximum number of concurrent checks of a server, so that a check that waits for its key's budget does not delay other
    /// tenants. [ours]
    private static let atOnce = 10

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await measure() }
                for _ in 0..<Self.atOnce { group.addTask { await lookWhereDue() } }
            }
        }
    }

    private func measure() async {
        let metrics = DriftMetrics()
        await repeatedly(after: Self.measuringPause) {
            metrics.update(try await checks.metrics(limit: DriftMetrics.maximumCount))
        }
    }

    private func lookWhereDue() async {
        await repeatedly(after: Self.pause) {
            for (tenant, clip) in try await checks.due(limit: Self.atOnce) {
                guard try await checks.claim(clip, of: tenant, for: Self.lease) else { continue }
                await look(at: clip, of: tenant)
            }
        }
    }

    private func repeatedly(
        after pause: Duration, _ body: () async throws -> Void
    ) async {
        while !Task.isCancelled {
            do {
                try await body()
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning(
                    "App Store Connect cannot be checked: trying again", metadata: ["error": "\(error)"])
            }
            // Delayed randomly, so that servers do not search at the same time.
            try? await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
        }
    }

    private func look(at clip: BundleID, of tenant: TenantID) async {
        let place: Logger.Metadata = ["tenant": "\(tenant)", "clip": "\(clip)"]
        var failure: String?
        var pause = min(Self.patience, interval)
        do {
            let check = try await check(clip, of: tenant)
            let isAnother = try await checks.record(check, of: tenant, again: interval)
            Counter(label: "doorstep_appstore_checks", dimensions: [("result", "done")]).increment()
            guard isAnother else { return }
            return logger.notice(
                "experiences at App Store Connect differ from the applied ones",
                metadata: place.merging(["findings": "\(check.findings.count)"]) { _, new in new })
        } catch  where Task.isCancelled {
            // If this server ends, another server makes the check, or this one after a restart.
            pause = .zero
        } catch SyncError.busy, SyncError.appliedMeanwhile {
            // Not an error: a run requests a check at its end.
        } catch {
            failure = (error as? ServiceFailure)?.code ?? (error as? SyncError)?.code ?? "failed"
            Counter(label: "doorstep_appstore_checks", dimensions: [("result", "failed")]).increment()
            logger.warning(
                "App Store Connect could not be checked",
                metadata: place.merging(["error": "\(error)"]) { _, new in new })
        }
        await giveBack(clip, of: tenant, for: failure, again: pause)
    }

    /// Makes a check within a maximum time.
    private func check(_ clip: BundleID, of tenant: TenantID) async throws -> SyncCheck {
        try await withThrowingTaskGroup(of: SyncCheck?.self) { group in
            group.addTask {
                try await access.withRegistrar(
                    of: clip, tenant, readsOnly: true,
                    onWait: { [logger] end in
                        logger.notice(
                            "the rate limit of a key of App Store Connect is spent",
                            metadata: ["tenant": "\(tenant)", "clip": "\(clip)", "until": "\(end.rfc3339)"])
                    }
                ) {
                    try await $0.look().check
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.timeLimit)
                return nil
            }
            defer { group.cancelAll() }
            guard let check = try await group.next() ?? nil else {
                throw ServiceFailure(
                    .wait, code: "took_too_long",
                    description:
                        "the check took longer than \(Self.timeLimit): other programs use the key's rate limit"
                )
            }
            return check
        }
    }

    /// In a separate task, because the end of the server has cancelled all others.
    private func giveBack(
        _ clip: BundleID, of tenant: TenantID, for failure: String?, again pause: Duration
    ) async {
        let work = Task { try await checks.putOff(clip, of: tenant, for: failure, again: pause) }
        do {
            try await work.value
        } catch {
            logger.warning("the claim of a check cannot be released early", metadata: ["error": "\(error)"])
        }
    }
}

/// The metrics of the experiences of each connected clip, from the last check.
final class DriftMetrics: Sendable {
    /// The maximum number of connections with metrics. [ours]
    static let maximumCount = 200

    private let series = Mutex<Set<Series>>([])

    private struct Series: Hashable {
        let label: String
        let tenant: TenantID
        let clip: BundleID
        var state: String?

        var meter: Meter {
            Meter(
                label: label,
                dimensions: [("tenant", "\(tenant)"), ("clip", clip.text)]
                    + (state.map { [("state", $0)] } ?? []))
        }
    }

    /// A clip that is no longer connected has no metrics.
    func update(_ metrics: [PostgresSyncChecks.Metrics]) {
        var measured: Set<Series> = []
        for clip in metrics {
            func set(_ label: String, _ value: Double, state: String? = nil) {
                let series = Series(label: label, tenant: clip.tenant, clip: clip.clip, state: state)
                series.meter.set(value)
                measured.insert(series)
            }
            for (state, count) in clip.counts {
                set("doorstep_appstore_experiences", Double(count), state: state)
            }
            if let checkedAt = clip.checkedAt {
                set("doorstep_appstore_check_age_seconds", max(0, Date().timeIntervalSince(checkedAt)))
            }
            set("doorstep_appstore_check_failing", clip.failure == nil ? 0 : 1)
        }
        let gone = series.withLock { series in
            defer { series = measured }
            return series.subtracting(measured)
        }
        for one in gone { one.meter.destroy() }
    }
}
