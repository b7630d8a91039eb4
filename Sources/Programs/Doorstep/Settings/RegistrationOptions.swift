import Administration
import AppStoreConnect
import ArgumentParser
import Foundation
import Invocation
import OutboundHTTP
import Persistence
import Registration
import Tenancy

/// Which clip's registration a command looks at, and at which App Store Connect.
struct RegistrationOptions: ParsableArguments {
    @OptionGroup var tenant: TenantOptions
    @OptionGroup var outbound: OutboundOptions
    @Option(help: "The clip's bundle ID; not needed where one clip alone is connected.") var clip: BundleID?
    @Option(
        help: "Where App Store Connect is, such as http://127.0.0.1:2199 of a simulator; Apple's without.")
    var service: String?
    @Option(
        help: ArgumentHelp(
            "For how many seconds after a creation without an answer no listing is believed that has it not.",
            valueName: "seconds"))
    var settleAfter = 60

    func validate() throws {
        guard (0...86_400).contains(settleAfter) else {
            throw ValidationError("--settle-after is 0 to 86400")
        }
        guard let service else { return }
        let url = URL(string: service)
        guard ["http", "https"].contains(url?.scheme), url?.host?.isEmpty == false, url?.path == "" else {
            throw ValidationError("--service is a scheme, a host and perhaps a port, without a path")
        }
    }

    /// Lends what registers the clip's experiences.
    /// - Parameter readsOnly: whether its tokens are good for reading alone.
    func withRegistrar<Result: Sendable>(
        readsOnly: Bool, _ body: (Registrar, BundleID) async throws -> Result
    ) async throws -> Result {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        return try await tenant.withPool { pool, _, tenant in
            let connections = PostgresStoreConnections(pool, keys: keys)
            let clip = try await connectedClip(connections, tenant.id)
            let credentials = try await connections.credentials(of: clip, of: tenant.id)
            let key = try AppStoreConnectKey(
                id: credentials.keyID, issuer: credentials.issuerID, pem: credentials.pem)
            let clock = SystemClock()
            let pacer = RequestPacer(
                PostgresRequestLedger(pool, keyID: credentials.keyID, of: tenant.id), clock)
            var settings = AppStoreConnectClient.Settings()
            if let service { settings.server = service }
            settings.readsOnly = readsOnly
            settings.pacer = pacer
            let records = PostgresRegistrationRecords(
                pool, keys: keys, clip: clip, of: tenant.id, actor: TenantOptions.actor)
            var ours = Registrar.Settings()
            ours.settlingTime = TimeInterval(settleAfter)
            return try await OutboundClient.withClient(outbound.settings()) { [settings, ours] http in
                let client = AppStoreConnectClient(key, http, settings)
                return try await body(
                    Registrar(
                        clip: clip, records,
                        AppStoreConnectService(client, clip: clip, app: clip.parent ?? clip),
                        pacer, clock, ours), clip)
            }
        }
    }

    private func connectedClip(
        _ connections: PostgresStoreConnections, _ tenant: TenantID
    ) async throws -> BundleID {
        if let clip { return clip }
        let connected = try await connections.connections(of: tenant)
        guard let first = connected.first, connected.count == 1 else {
            throw CommandError.invalidOption(
                "--clip",
                connected.isEmpty
                    ? "no clip is connected" : "\(connected.count) clips are connected: name one")
        }
        return first.clip
    }
}

/// What a plan may do.
struct PlanOptions: ParsableArguments {
    @Flag(help: "Take over experiences at desired URLs that somebody else made.") var adopt = false
    @Option(
        help: ArgumentHelp(
            "Remove up to so many experiences that the catalogue has no more; with more to remove, none is.",
            valueName: "count"))
    var allowRemovals = 0
    @Option(
        help: ArgumentHelp(
            "Allow a removal of more than 10 and more than one in 20 by naming its count.", valueName: "count"
        ))
    var allowMassRemoval: Int?
    @Option(
        help: ArgumentHelp(
            "For how many hours an experience stays registered that the catalogue has no more.",
            valueName: "hours"))
    var grace = 24
    @Option(help: "The URL of one experience, or the identifier of the location that it is bound to.")
    var target: String?
    @Flag(help: "Send again, as it is, what Apple has refused.") var retryRefused = false

    func validate() throws {
        guard allowRemovals >= 0, allowMassRemoval ?? 0 >= 0 else {
            throw ValidationError("a count of removals is 0 or more")
        }
        guard (0...8_760).contains(grace) else { throw ValidationError("--grace is 0 to 8760") }
    }

    var wishes: Registrar.Wishes {
        var wishes = Registrar.Wishes()
        wishes.adopts = adopt
        wishes.allowedRemovals = allowRemovals
        wishes.allowedMassRemoval = allowMassRemoval
        wishes.grace = TimeInterval(grace) * 3_600
        wishes.target = target.map { (try? URLPrefix($0))?.canonical ?? $0 }
        wishes.retriesRefused = retryRefused
        return wishes
    }
}
