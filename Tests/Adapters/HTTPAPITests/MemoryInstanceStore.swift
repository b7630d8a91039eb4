import APNsPayload
import Foundation
import Invocation
import Notifications
import Synchronization
import Tenancy

/// Stores the last report of each instance, and all its launches.
final class MemoryInstanceStore: InstanceStore {
    private struct Key: Hashable {
        let tenant: TenantID
        let id: InstanceID
    }

    private struct State {
        var instances: [Key: Instance] = [:]
        var attestKeys: [Key: [UInt8]] = [:]
        var registrations: [InstanceRegistration] = []
        var isAway = false
        var quota: QuotaExceeded?
    }

    private let state = Mutex(State())
    /// A clip that no tenant has.
    static let unknownClip = "com.example.Other.Clip"

    var registrations: [InstanceRegistration] { state.withLock { $0.registrations } }
    var count: Int { state.withLock { $0.instances.count } }

    /// Makes the store unavailable.
    func goAway() {
        state.withLock { $0.isAway = true }
    }

    /// From now on the tenant has a full quota.
    func refuse(_ quota: QuotaExceeded) { state.withLock { $0.quota = quota } }

    private func change<R: Sendable>(_ body: (inout State) -> sending R) throws -> R {
        try state.withLock { state in
            guard !state.isAway else { throw StoreUnavailable() }
            if let quota = state.quota { throw quota }
            return body(&state)
        }
    }

    func register(
        _ registration: InstanceRegistration, mayBeNew: Bool, of tenant: TenantID, at now: Date
    ) async throws -> Registration {
        try change { state in
            let key = Key(tenant: tenant, id: registration.id)
            let known = state.instances[key]
            guard let clip = registration.clip ?? known?.clip else { return .refused(.unknownInstance) }
            guard mayBeNew || known != nil else { return .refused(.newNotAdmitted) }
            guard clip.text != Self.unknownClip else { return .refused(.unknownClip) }
            var despite: RegistrationRefusal?
            if let own = state.attestKeys[key], own != registration.attestKey { despite = .otherKey }
            if let attestKey = registration.attestKey, state.attestKeys[key] == nil,
                state.attestKeys.values.count(where: { $0 == attestKey }) >= Instance.maximumOfKey
            {
                despite = .tooManyOfKey
            }
            if let despite, registration.isHeldToKey { return .refused(despite) }
            state.registrations.append(registration)
            let others = known?.launches.filter { $0.url != registration.launch?.url } ?? []
            let instance = Instance(
                id: registration.id, clip: clip, app: registration.app,
                environment: registration.environment, permission: registration.permission,
                launchedAt: registration.launchedAt,
                launches: (registration.launch.map { [$0] } ?? []) + others,
                hasToken: registration.tokens[.device] != nil,
                startableTypes: registration.tokens.keys.filter { $0.kind == "start" }.map(\.name).sorted(),
                activities: known?.activities ?? [])
            state.instances[key] = instance
            if let attestKey = registration.attestKey, state.attestKeys[key] == nil {
                state.attestKeys[key] = attestKey
            }
            let isNewLaunch = registration.launch.map { launch in
                !(known?.launches.contains {
                    $0.url == launch.url && $0.launchedAt >= registration.sameLaunchSince
                }
                    ?? false)
            }
            return .registered(
                instance, isNew: known == nil, isNewLaunch: isNewLaunch ?? false, despite: despite)
        }
    }

    func owner(of id: InstanceID, of tenant: TenantID) async throws -> InstanceOwner? {
        try change { state in
            let key = Key(tenant: tenant, id: id)
            return state.instances[key].map {
                InstanceOwner(clip: $0.clip, attestKey: state.attestKeys[key])
            }
        }
    }

    func instance(_ id: InstanceID, of tenant: TenantID) async throws -> Instance? {
        try change { $0.instances[Key(tenant: tenant, id: id)] }
    }

    func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool {
        try change { state in
            let key = Key(tenant: tenant, id: id)
            state.attestKeys[key] = nil
            return state.instances.removeValue(forKey: key) != nil
        }
    }

    func setToken(
        _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID, at now: Date
    ) async throws -> Bool {
        try change { state in
            let key = Key(tenant: tenant, id: id)
            guard let instance = state.instances[key] else { return false }
            state.instances[key] = instance.with(activities: instance.activities + [activity])
            return true
        }
    }

    func removeActivity(
        _ activity: String, for id: InstanceID, of tenant: TenantID
    ) async throws -> Bool {
        try change { state in
            let key = Key(tenant: tenant, id: id)
            guard let instance = state.instances[key], instance.activities.contains(activity) else {
                return false
            }
            state.instances[key] = instance.with(
                activities: instance.activities.filter { $0 != activity })
            return true
        }
    }
}

extension Instance {
    fileprivate func with(activities: [String]) -> Instance {
        Instance(
            id: id, clip: clip, app: app, environment: environment, permission: permission,
            launchedAt: launchedAt, launches: launches, hasToken: hasToken, startableTypes: startableTypes,
            activities: activities)
    }
}
