public import APNsPayload
public import Foundation
public import Tenancy

/// Creates and deletes broadcast channels at APNs for tenants, and stores their owners. Tenants that share a clip do not share its
/// channels.
public struct ChannelDirectory: Sendable {
    private let manager: any ChannelManager
    private let store: any ChannelStore

    /// The reason why a channel was not created or deleted.
    public enum Refusal: Error, Sendable, Hashable {
        case unknownClip
        case unknownChannel
        /// The tenant is a test tenant, and the channel would be in the environment `production`.
        case sandboxOnly
        /// APNs refused the request.
        case refused(APNsResponse)
        /// APNs was not called, or certainly did nothing.
        case notSent(PushFailure)
        /// No response arrived: APNs may have done it.
        case unanswered(PushFailure)
    }

    public init(_ manager: any ChannelManager, _ store: any ChannelStore) {
        self.manager = manager
        self.store = store
    }

    /// Creates a channel.
    /// - Parameter environment: Nil for `production`, or `sandbox` if the tenant is a test tenant.
    /// - Throws: ``Refusal``, and the store's errors; then APNs is asked to delete the channel again, so that no unknown
    ///   channel is left.
    public func create(
        of clip: BundleID, _ environment: APNsEnvironment?, storesLastMessage: Bool, of tenant: TenantID,
        at now: Date
    ) async throws -> BroadcastChannel {
        guard let (team, isOfTest) = try await store.team(of: clip, of: tenant) else {
            throw Refusal.unknownClip
        }
        let environment = environment ?? (isOfTest ? .sandbox : .production)
        guard !isOfTest || environment == .sandbox else { throw Refusal.sandboxOnly }
        // Checked before APNs is called: tenants that share a team share its limits at APNs.
        try await store.checkRoom(of: clip, environment, of: tenant)
        let made = try await manager.createChannel(
            of: clip, team: team, environment: environment, storesLastMessage: storesLastMessage
        ).get()
        guard let id = ChannelID(made) else { throw Refusal.refused(APNsResponse(status: 200)) }
        let channel = BroadcastChannel(
            id: id, clip: clip, environment: environment, storesLastMessage: storesLastMessage, createdAt: now
        )
        do {
            try await store.add(channel, of: tenant)
        } catch {
            _ = await manager.deleteChannel(made, of: clip, team: team, environment: environment)
            throw error
        }
        return channel
    }

    /// Deletes a channel for ever. A channel that APNs no longer knows is deleted here, too.
    public func delete(_ id: ChannelID, of tenant: TenantID) async throws {
        guard let channel = try await store.channel(id, of: tenant),
            let team = try await store.team(of: channel.clip, of: tenant)?.team
        else { throw Refusal.unknownChannel }
        let outcome = await manager.deleteChannel(
            id.text, of: channel.clip, team: team, environment: channel.environment)
        switch outcome {
        case .refused(let response) where response.reason == .channelNotRegistered: break
        default: _ = try outcome.get()
        }
        try await store.remove(channel, of: tenant)
    }
}

extension ChannelOutcome {
    fileprivate func get() throws(ChannelDirectory.Refusal) -> Value {
        switch self {
        case .done(let value): return value
        case .refused(let response): throw .refused(response)
        case .notSent(let failure): throw .notSent(failure)
        case .unanswered(let failure): throw .unanswered(failure)
        }
    }
}
