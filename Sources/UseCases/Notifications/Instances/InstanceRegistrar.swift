public import APNsPayload
import AppAttest
public import Foundation
public import Invocation
public import Lookups
public import Receipts
public import Tenancy

/// Stores reports of clip instances: their launches, permissions and tokens.
///
/// Safe to use from many threads. Its functions throw the store's errors: ``StoreUnavailable`` if the store does not respond.
public struct InstanceRegistrar: Sendable {
    private let store: any InstanceStore
    private let launches: (any LaunchCounter)?

    /// The time in which two reports by one URL are of one launch, if the device's clock is ahead or the report has no time, in
    /// seconds. [ours]
    private static let sameLaunchTime: TimeInterval = 600

    /// - Parameter launches: Counts launch reports; nil if they are not counted.
    public init(_ store: any InstanceStore, countingTo launches: (any LaunchCounter)? = nil) {
        self.store = store
        self.launches = launches
    }

    /// Stores a launch.
    ///
    /// - If the time of a launch is in the future because of a wrong clock, the current time counts. [ours]
    /// - If the report of a later launch has arrived before, this report only adds its launch. [ours]
    /// - Coordinates are not stored. If the URL contains a location, the launch has the registered URL of its experience, and no
    ///   location.
    /// - A launch without a URL renews the 8 hours of the instance, and does not change its business. The clip must be known or named.
    /// - The instance belongs to the experience that the launch URL matches, even if a short code in this URL leads to a URL of
    ///   another experience: the device knows only the first one. The location is the one to which the code leads. [ours]
    /// - A proof confirms the launch only if it has evidence, and was attested as the clip requires for confirmations.
    /// - If another instance of the tenant had the token, the token now belongs to this instance: the clip was installed again.
    /// - Parameters:
    ///   - proof: An authentic receipt that the person was at the location.
    ///   - mayBeNew: Whether to add an unknown instance.
    ///   - attestKey: The ID of the App Attest key that signed the report. An instance without a key is bound to this key.
    ///   - isHeldToKey: Whether to refuse an instance that is bound to another key, and more than ``Instance/maximumOfKey``
    ///     instances of this key.
    ///   - now: The time of the request.
    public func register(
        _ report: LaunchReport, proof: Receipt? = nil, mayBeNew: Bool = true, by attestKey: [UInt8]? = nil,
        isHeldToKey: Bool = false, in table: TenantTable, at now: Date
    ) async throws -> Registration {
        let match = report.url.flatMap { table.match($0) }
        let experience = match?.experience
        guard report.url == nil || experience != nil else { return .refused(.doesNotMatch) }
        if let clip = report.clip, let experience, experience.clip != clip { return .refused(.otherClip) }
        var location: LocationIdentifier?
        if let url = report.url, let match {
            location = table.lookUp(url, by: match).location?.registeredIdentifier
        }
        if let proof {
            guard proof.outcome == .inRegion else { return .refused(.proof(.notInRegion)) }
            guard location != nil else { return .refused(.proof(.noLocation)) }
            guard proof.location == location else { return .refused(.proof(.otherLocation)) }
        }
        let launchedAt = min(report.launchedAt ?? now, now)
        var launch: Launch?
        if let url = report.url, let experience {
            launch = Launch(
                url: experience.readsPlaces ? experience.url : url.canonicalWithoutFragment,
                experience: experience.url, location: location, launchedAt: launchedAt,
                confirmedAt: proof.flatMap {
                    $0.confirms(for: table.attestedClip(experience.clip)) ? $0.minute : nil
                })
        }
        var tokens = Dictionary(
            uniqueKeysWithValues: report.startTokens.map { (TokenKind.start(attributesType: $0), $1) })
        tokens[.device] = report.token
        let registration = InstanceRegistration(
            id: report.instance, clip: experience?.clip ?? report.clip, app: report.app,
            environment: report.environment, permission: report.permission, launchedAt: launchedAt,
            launch: launch, tokens: tokens, attestKey: attestKey, isHeldToKey: isHeldToKey,
            // A clock that is ahead gives each report of a launch a new time.
            sameLaunchSince: launchedAt == report.launchedAt
                ? launchedAt : launchedAt.addingTimeInterval(-Self.sameLaunchTime))
        let result = try await store.register(
            registration, mayBeNew: mayBeNew, of: table.tenant, at: now)
        // The clip was deleted a moment ago, and with it the experience that has just matched.
        if case .refused(.unknownClip) = result, experience != nil { return .refused(.doesNotMatch) }
        if case .registered(_, _, isNewLaunch: true, _) = result, let launch {
            launches?.count(
                .report,
                CountedLaunch(location: location, experience: launch.experience, source: report.source),
                of: table.tenant, at: now)
        }
        return result
    }

    /// The owner of an instance; nil if the tenant does not have it.
    public func owner(of id: InstanceID, of tenant: TenantID) async throws -> InstanceOwner? {
        try await store.owner(of: id, of: tenant)
    }

    /// Nil if the tenant does not have the instance, or if it was not launched at one of the locations.
    /// - Parameter locations: Nil for any.
    public func instance(
        _ id: InstanceID, of tenant: TenantID, within locations: Set<LocationIdentifier>? = nil
    ) async throws -> Instance? {
        guard let instance = try await store.instance(id, of: tenant) else { return nil }
        guard let locations else { return instance }
        return instance.seen(at: locations)
    }

    /// Forgets an instance: its launches and its tokens.
    /// - Returns: Whether the tenant had it.
    public func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool {
        try await store.delete(id, of: tenant)
    }

    /// Stores the token of a Live Activity, and replaces its earlier token.
    /// - Returns: Whether the tenant has the instance.
    public func setToken(
        _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID,
        at now: Date
    ) async throws -> Bool {
        try await store.setToken(token, ofActivity: activity, for: id, of: tenant, at: now)
    }

    /// Forgets a Live Activity that has ended.
    /// - Returns: Whether the tenant has the instance, and the instance the activity.
    public func removeActivity(
        _ activity: String, for id: InstanceID, of tenant: TenantID
    ) async throws -> Bool {
        try await store.removeActivity(activity, for: id, of: tenant)
    }
}

extension Receipt {
    /// - Parameter clip: The attestation that the instance's clip requires; nil for none.
    fileprivate func confirms(for clip: AttestedClip?) -> Bool {
        evidence != .none && clip?.attestation.isSatisfied(by: attestation, for: .confirm) != false
    }
}

extension IndexedExperience {
    /// Whether URLs that it matches have coordinates in them, be they signed or not.
    fileprivate var readsPlaces: Bool {
        if case .rule(.coordinates) = binding { true } else { false }
    }
}
