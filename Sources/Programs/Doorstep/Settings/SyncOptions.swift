import Administration
import AppStoreSync
import ArgumentParser
import Formats
import Foundation
import Invocation
import Persistence
import Tenancy

/// The clip and the App Store Connect that a command uses.
struct SyncOptions: ParsableArguments {
    @OptionGroup var tenant: TenantOptions
    @OptionGroup var outbound: OutboundOptions
    @Option(help: "Bundle ID of the clip; not needed if only one clip is connected.") var clip: BundleID?
    @Option(Settings.appStore) var appStore: StoreURL?
    @Option(
        help: ArgumentHelp(
            """
            Seconds after a creation without a response in which listings that lack the experience are not trusted.
            """,
            valueName: "seconds"))
    var settleAfter = 60

    func validate() throws {
        guard (0...86_400).contains(settleAfter) else {
            throw ValidationError("--settle-after must be from 0 to 86400")
        }
    }

    /// Runs the closure with the synchronization of the clip's experiences.
    /// - Parameters:
    ///   - readsOnly: Whether its tokens permit only reading.
    ///   - plan: A stored plan, which determines the clip; nil without one.
    func withRegistrar<Result: Sendable>(
        readsOnly: Bool, for plan: SavedPlan? = nil,
        _ body: (SyncRunner, BundleID, TenantID) async throws -> Result
    ) async throws -> Result {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        return try await tenant.withPool { pool, _, tenant in
            // Two tenants may have the same bundle ID.
            guard plan == nil || plan?.tenant == tenant.id else {
                throw CommandError.invalidOption("--tenant", "the plan belongs to another tenant")
            }
            let access = StoreAccess(
                pool, keys: keys, service: try Settings.appStore.value(appStore)?.text,
                outbound: try outbound.settings(), actor: TenantOptions.actor)
            let clip = try await connectedClip(plan?.clip, access.connections, tenant.id)
            var settings = SyncRunner.Settings()
            settings.settlingTime = TimeInterval(settleAfter)
            return try await access.withRegistrar(
                of: clip, tenant.id, readsOnly: readsOnly, settings,
                onWait: Self.tellWait
            ) {
                try await body($0, clip, tenant.id)
            }
        }
    }

    /// Makes a check, and stores its result.
    /// - Parameter show: Called before the result is stored, which may fail.
    func check(_ show: (SyncSurvey) -> Void) async throws -> SyncSurvey {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        return try await tenant.withPool { pool, _, tenant in
            let access = StoreAccess(
                pool, keys: keys, service: try Settings.appStore.value(appStore)?.text,
                outbound: try outbound.settings(), actor: TenantOptions.actor)
            let clip = try await connectedClip(nil, access.connections, tenant.id)
            let (survey, check) = try await access.withRegistrar(
                of: clip, tenant.id, readsOnly: true, onWait: Self.tellWait
            ) {
                try await $0.look()
            }
            show(survey)
            try await PostgresSyncChecks(pool).record(check, of: tenant.id)
            return survey
        }
    }

    /// Prints at once that the command waits, because this may take an hour.
    @Sendable private static func tellWait(_ end: Date) {
        FileHandle.standardError.write(
            Data(
                """
                The key's rate limit at App Store Connect is spent: waiting until \(end.rfc3339). You can end the command and \
                run it again later.

                """.utf8))
    }

    private func connectedClip(
        _ planned: BundleID?, _ connections: PostgresStoreConnections, _ tenant: TenantID
    ) async throws -> BundleID {
        if let planned, let clip, planned != clip {
            throw CommandError.invalidOption("--clip", "the plan belongs to the clip \(planned)")
        }
        if let clip = planned ?? clip { return clip }
        let connected = try await connections.connections(of: tenant)
        guard let first = connected.first, connected.count == 1 else {
            throw CommandError.invalidOption(
                "--clip",
                connected.isEmpty
                    ? "no clip is connected" : "\(connected.count) clips are connected: name one with --clip")
        }
        return first.clip
    }
}

/// An origin: a scheme, a host and an optional port, without a path.
struct StoreURL: Sendable, ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        let url = URL(string: argument)
        guard ["http", "https"].contains(url?.scheme), url?.host?.isEmpty == false, url?.path == "" else {
            return nil
        }
        text = argument
    }
}

/// The options of a plan.
struct PlanOptions: ParsableArguments {
    @Flag(help: "Take over experiences at desired URLs that Doorstep did not create.") var adopt = false
    @Option(
        help: ArgumentHelp(
            """
            Maximum number of removals of experiences that the catalogue no longer has; with more to remove, none is \
            removed.
            """,
            valueName: "count"))
    var allowRemovals = 0
    @Option(
        help: ArgumentHelp(
            "Number of removals to allow, if it is more than 10 and more than one in 20.", valueName: "count"
        ))
    var allowMassRemoval: Int?
    @Option(
        help: ArgumentHelp(
            "Hours for which an experience stays registered after the catalogue no longer has it.",
            valueName: "hours"))
    var grace = 24
    @Option(help: "URL of one experience, or identifier of its location.")
    var target: String?
    @Flag(help: "Send refused experiences to Apple again, unchanged.") var retryRefused = false

    func validate() throws {
        guard allowRemovals >= 0, allowMassRemoval ?? 0 >= 0 else {
            throw ValidationError("a count of removals must be 0 or more")
        }
        guard (0...8_760).contains(grace) else { throw ValidationError("--grace must be from 0 to 8760") }
    }

    var wishes: SyncRunner.Wishes {
        var wishes = SyncRunner.Wishes()
        wishes.adopts = adopt
        wishes.allowedRemovals = allowRemovals
        wishes.allowedMassRemoval = allowMassRemoval
        wishes.grace = TimeInterval(grace) * 3_600
        wishes.target = target.map { (try? URLPrefix($0))?.canonical ?? $0 }
        wishes.retriesRefused = retryRefused
        return wishes
    }
}
