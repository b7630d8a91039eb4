public import APNsPayload
import Formats
public import Foundation
import Invocation
public import Notifications
public import PostgreSQL
public import Tenancy

/// Instances in PostgreSQL. The role is `doorstep_app`.
///
/// A launch of a known instance with a known token needs two statements. A new token needs one more, and one for each instance that
/// had the token before. The first use of a key needs two more.
public struct PostgresInstanceStore: InstanceStore {
    private let pool: ConnectionPool
    private let keys: SealingKeys

    /// - Parameter keys: The keys that encrypt tokens, and find them.
    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    public func register(
        _ registration: InstanceRegistration, mayBeNew: Bool = true, of tenant: TenantID, at now: Date
    ) async throws -> Registration {
        let keys = keys.of(tenant)
        let tokens = registration.tokens.map { place, token in
            GivenToken(place, digests: keys.digests(of: token), token: token)
        }
        do {
            return try await reportingUnavailability {
                try await pool.withTenantTransaction(
                    tenant, as: .app, locking: registration.locks(of: tenant) + tokens.flatMap(\.locks)
                ) { transaction in
                    let keeping = try await transaction.keep(
                        registration, tokens, mayBeNew: mayBeNew, at: now)
                    guard case .kept(let isNew, let isNewLaunch, let known, let owner) = keeping else {
                        if case .ofOtherKey = keeping { return .refused(.otherKey) }
                        return .refused(registration.clip == nil ? .unknownInstance : .newNotAdmitted)
                    }
                    var despite: RegistrationRefusal?
                    if owner == .otherKey {
                        despite = .otherKey
                    } else if let attestKey = registration.attestKey, owner == .noKey {
                        let isOneTooMany = try await transaction.bind(registration.id, to: attestKey)
                        if isOneTooMany, registration.isHeldToKey { throw TooManyOfKey() }
                        despite = isOneTooMany ? .tooManyOfKey : nil
                    }
                    let unknown = tokens.filter { !known.contains($0.place) }
                    if !unknown.isEmpty {
                        try await transaction.keep(
                            unknown, of: registration.id, sealedBy: keys,
                            ifLaunchedBy: registration.launchedAt, at: now)
                    }
                    if unknown.contains(where: { $0.place.kind == "start" }) {
                        try await transaction.trimTokens(
                            "start", of: registration.id, to: Instance.maximumActivities)
                    }
                    guard let instance = try await transaction.instance(registration.id, at: now) else {
                        throw PersistenceError.unreadable("instances")
                    }
                    return .registered(
                        try await transaction.trimmed(instance), isNew: isNew, isNewLaunch: isNewLaunch,
                        despite: despite)
                }
            }
        } catch is TooManyOfKey {
            return .refused(.tooManyOfKey)
        } catch let error as PostgreSQLError where error.isForeignKeyViolation() {
            // The clip never existed or has just been deleted, possibly with the tenant.
            return .refused(.unknownClip)
        }
    }

    public func owner(of id: InstanceID, of tenant: TenantID) async throws -> InstanceOwner? {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app, .readOnly) { transaction in
                try await transaction.execute(
                    """
                    SELECT bundle_id, attest_key_id FROM doorstep.instances
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid)
                    """
                ).first.map { row in
                    let (clip, key) = try row.decode(String.self, Data?.self)
                    return try PersistenceError.reading("instances") {
                        InstanceOwner(clip: try BundleID(clip), attestKey: key.map(Array.init))
                    }
                }
            }
        }
    }

    public func instance(_ id: InstanceID, of tenant: TenantID) async throws -> Instance? {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app, .readOnly) {
                try await $0.instance(id, at: Date())
            }
        }
    }

    public func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app) { try await $0.deleteInstance(id) }
        }
    }

    public func setToken(
        _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID, at now: Date
    ) async throws -> Bool {
        let keys = keys.of(tenant)
        let given = GivenToken(.activity(activity), digests: keys.digests(of: token), token: token)
        return try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app, locking: given.locks) { transaction in
                // Locked until the end. A deletion of the instance waits, and then deletes the token, too.
                let rows = try await transaction.execute(
                    """
                    SELECT FROM doorstep.instances
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid) FOR KEY SHARE
                    """)
                guard !rows.isEmpty else { return false }
                try await transaction.keep(
                    [given], of: id, sealedBy: keys, ifLaunchedBy: .distantFuture, at: now)
                try await transaction.trimTokens("activity", of: id, to: Instance.maximumActivities)
                return true
            }
        }
    }

    public func removeActivity(
        _ activity: String, for id: InstanceID, of tenant: TenantID
    ) async throws -> Bool {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                try await transaction.execute(
                    """
                    DELETE FROM doorstep.push_tokens
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid)
                        AND kind = 'activity' AND name = \(activity)
                    """
                ).affectedRows == 1
            }
        }
    }
}

/// Thrown to roll back the writes.
private struct TooManyOfKey: Error {}
