import Administration
import AppStoreConnect
import AppStoreSync
import Foundation
import OutboundHTTP
import Persistence
import PostgreSQL
import Tenancy

/// The connection to App Store Connect, and its stored state.
struct StoreAccess: Sendable {
    /// The origin of a simulator, such as `http://127.0.0.1:2199`; nil for Apple.
    let service: String?
    let outbound: OutboundClient.Settings
    let connections: PostgresStoreConnections
    let ledger: @Sendable (_ keyID: String, TenantID) -> PostgresRequestLedger
    let records: @Sendable (BundleID, TenantID) -> PostgresSyncRecords

    /// Creates the access for an operator.
    init(
        _ pool: ConnectionPool, keys: SealingKeys, service: String?, outbound: OutboundClient.Settings,
        actor: String
    ) {
        self.service = service
        self.outbound = outbound
        connections = PostgresStoreConnections(pool, keys: keys)
        ledger = { PostgresRequestLedger(pool, keyID: $0, of: $1) }
        records = { PostgresSyncRecords(pool, keys: keys, clip: $0, of: $1, actor: actor) }
    }

    /// Creates the access for a server, which only reads.
    init(
        serving pool: ConnectionPool, keys: SealingKeys, service: String?, outbound: OutboundClient.Settings
    ) {
        self.service = service
        self.outbound = outbound
        connections = PostgresStoreConnections(serving: pool, keys: keys)
        ledger = { PostgresRequestLedger(serving: pool, keyID: $0, of: $1) }
        records = { PostgresSyncRecords(serving: pool, keys: keys, clip: $0, of: $1) }
    }

    /// Runs the closure with the synchronization of a clip's experiences.
    /// - Parameters:
    ///   - readsOnly: Whether its tokens permit only reading.
    ///   - onWait: Called with the end of the wait if the key's rate limit is used up.
    func withRegistrar<Result: Sendable>(
        of clip: BundleID, _ tenant: TenantID, readsOnly: Bool,
        _ settings: SyncRunner.Settings = SyncRunner.Settings(),
        onWait: @escaping @Sendable (Date) -> Void, _ body: (SyncRunner) async throws -> Result
    ) async throws -> Result {
        let (credentials, app) = try await connections.credentials(of: clip, of: tenant)
        let key = try AppStoreConnectKey(
            id: credentials.keyID, issuer: credentials.issuerID, pem: credentials.pem)
        let clock = SystemClock()
        let pacer = RequestPacer(ledger(credentials.keyID, tenant), clock, onWait: onWait)
        var client = AppStoreConnectClient.Settings()
        if let service { client.server = service }
        client.readsOnly = readsOnly
        client.pacer = pacer
        // Apple's server, or a server that the operator names. Its lists may be longer than a tenant's site may be.
        var outbound = outbound
        outbound.responseBudget = nil
        return try await OutboundClient.withClient(outbound) { [client] http in
            try await body(
                SyncRunner(
                    clip: clip, records(clip, tenant),
                    AppStoreConnectService(
                        AppStoreConnectClient(key, http, client), clip: clip, app: app),
                    pacer, clock, settings))
        }
    }
}
