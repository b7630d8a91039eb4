import APNsPayload
import Crypto
import Formats
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

/// The result for an instance.
enum InstanceKeeping {
    /// - Parameters:
    ///   - isNewLaunch: Whether the report has a launch, and no launch by the same URL is as late.
    ///   - known: The kinds of the tokens that the instance already had.
    ///   - owner: The previous owner.
    case kept(isNew: Bool, isNewLaunch: Bool, known: Set<TokenKind>, owner: KeptOwner)
    /// The instance is unknown and must not be added. Nothing is written.
    case notAdded
    /// The instance belongs to another key. Nothing is written.
    case ofOtherKey
}

/// The owner of an instance, compared with the key that signed a report.
enum KeptOwner: String {
    case noKey = "no_key"
    case sameKey = "same_key"
    case otherKey = "other_key"
}

/// A token as it arrived, with its digest.
struct GivenToken: Sendable {
    let place: TokenKind
    let token: PushToken
    /// In hexadecimal digits, for each secret, the newest secret first.
    let digests: [String]
    /// The advisory locks that all registrations of the same token share.
    let locks: [Int64]

    init(_ place: TokenKind, digests: [[UInt8]], token: PushToken) {
        self.place = place
        self.token = token
        self.digests = digests.map { Base16.text($0) }
        locks = digests.map(\.lock)
    }
}

extension InstanceRegistration {
    /// The lock that orders two reports of an instance, because each may need rows of the other. If an instance is bound to its
    /// key, it also orders two keys that claim it, including a new instance, and the instances of a key.
    ///
    /// The number of an instance's lock is a hash, because clients choose the instance's ID and must not choose other locks.
    func locks(of tenant: TenantID) -> [Int64] {
        let instance = SHA256.hash(data: Array("instance \(tenant) \(id)".utf8))
        return [instance.lock] + (isHeldToKey ? attestKey.map { [$0.lock] } ?? [] : [])
    }
}

extension Sequence<UInt8> {
    /// The number of the advisory lock for this digest. Other digests may have the same number, and then wait without need.
    fileprivate var lock: Int64 { Int64(bitPattern: prefix(8).reduce(0) { $0 << 8 | UInt64($1) }) }
}

extension TenantTransaction {
    /// Writes the instance and its launch, and marks the existing tokens that the report contains.
    func keep(
        _ registration: InstanceRegistration, _ tokens: [GivenToken], mayBeNew: Bool, at now: Date
    ) async throws -> InstanceKeeping {
        let launch = registration.launch
        let mayBeNew = mayBeNew && registration.clip != nil
        // A new row has no `xmax`; an updated row has the `xmax` of its lock; an unchanged row is not returned.
        let rows = try await execute(
            """
            WITH found AS MATERIALIZED (
                SELECT coalesce(\(registration.clip?.text)::text, bundle_id) AS bundle_id,
                    launched_at <= \(registration.launchedAt) AND (bundle_id, app, environment)
                        <> (coalesce(\(registration.clip?.text)::text, bundle_id), \(registration.app.rawValue),
                            \(registration.environment.rawValue))
                    AS is_another,
                    CASE WHEN attest_key_id IS NULL THEN 'no_key'
                        WHEN attest_key_id = \(registration.attestKey.map { Data($0) })::bytea THEN 'same_key'
                        ELSE 'other_key' END AS owner
                FROM doorstep.instances
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(registration.id.uuid)
            ), before AS MATERIALIZED (
                SELECT bundle_id, is_another FROM found WHERE owner <> 'other_key' OR NOT \(registration.isHeldToKey)
            ), kept AS MATERIALIZED (
                SELECT bundle_id FROM before
                UNION ALL
                SELECT \(registration.clip?.text)::text WHERE \(mayBeNew) AND NOT EXISTS (SELECT FROM found)
            ), outdated AS (
                \(Query.retiringTokens(of: registration, tenant, except: tokens, at: now))
            ), instance AS (
                \(Query.writingInstance(of: registration, tenant))
            ), launch AS (
                \(Query.writingLaunch(of: registration, tenant))
            ), known AS (
                \(Query.renewing(tokens, of: registration, tenant, at: now))
            )
            SELECT EXISTS (SELECT FROM kept), EXISTS (SELECT FROM found),
                coalesce((SELECT is_new FROM instance), false), coalesce((SELECT owner FROM found), 'no_key'),
                ARRAY(SELECT kind FROM known ORDER BY kind, name), ARRAY(SELECT name FROM known ORDER BY kind, name),
                -- Sees the rows before this statement.
                \(launch != nil) AND NOT EXISTS (
                    SELECT FROM doorstep.launches
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = \(registration.id.uuid) AND url = \(launch?.url)
                        AND launched_at >= \(registration.sameLaunchSince))
            """)
        let (isKept, isFound, isNew, owner, kinds, names, isNewLaunch) = try rows.one().decode(
            Bool.self, Bool.self, Bool.self, String.self, [String].self, [String].self, Bool.self)
        guard isKept else { return isFound ? .ofOtherKey : .notAdded }
        return .kept(
            isNew: isNew, isNewLaunch: isNewLaunch,
            known: Set(zip(kinds, names).compactMap { TokenKind(kind: $0, name: $1) }),
            owner: KeptOwner(rawValue: owner) ?? .noKey)
    }

    /// Writes new tokens of the instance, and retires them at other instances. The locks of the tokens are held: if two instances report
    /// the same token, the second transaction sees the first one's row.
    /// - Parameter launchedAt: The tokens are ignored if the instance has a later launch, which reported newer tokens.
    func keep(
        _ tokens: [GivenToken], of instance: InstanceID, sealedBy keys: TenantSealingKeys,
        ifLaunchedBy launchedAt: Date, at now: Date
    ) async throws {
        let sealed = try tokens.map { given in
            Base16.text(try keys.seal(given.token, for: instance, at: given.place))
        }
        let others = try await execute(
            """
            WITH instance AS (
                SELECT launched_at <= \(launchedAt) AS is_as_reported FROM doorstep.instances
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(instance.uuid)
            ), stored AS (
                INSERT INTO doorstep.push_tokens AS t
                    (tenant_id, instance_id, kind, name, digest, sealed, registered_at)
                SELECT \(tenant.uuid), \(instance.uuid), kind, name, decode(digest, 'hex'), decode(sealed, 'hex'), \(now)
                FROM unnest(
                    \(tokens.map(\.place.kind))::text[], \(tokens.map(\.place.name))::text[],
                    \(tokens.map { $0.digests[0] })::text[], \(sealed)::text[]
                ) AS given (kind, name, digest, sealed), instance
                WHERE is_as_reported
                ON CONFLICT (tenant_id, instance_id, kind, name) DO UPDATE
                SET digest = excluded.digest, sealed = excluded.sealed, registered_at = excluded.registered_at,
                    retired_at = NULL
            )
            -- Each by its key in the index: of an array of them, or a join with them, the planner makes a filter for all
            -- that the tenant has, where most tenants have little.
            SELECT other.instance_id, other.kind, other.name
            FROM instance, unnest(\(tokens.flatMap(\.digests))::text[]) AS hexadecimal,
                decode(hexadecimal, 'hex') AS given, LATERAL (
                    SELECT instance_id, kind, name FROM doorstep.push_tokens
                    WHERE tenant_id = \(tenant.uuid) AND digest = given AND digest <> '' AND retired_at IS NULL
                    OFFSET 0) AS other
            WHERE is_as_reported AND other.instance_id <> \(instance.uuid)
            ORDER BY other.instance_id, other.kind, other.name
            """)
        for row in others {
            let (other, kind, name) = try row.decode(UUID.self, String.self, String.self)
            try await execute(
                """
                UPDATE doorstep.push_tokens SET retired_at = \(now)
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(other) AND kind = \(kind) AND name = \(name)
                    AND retired_at IS NULL AND digest = ANY (ARRAY(
                        -- Of any secret: it may be sealed again at this moment.
                        SELECT decode(digest, 'hex') FROM unnest(\(tokens.flatMap(\.digests))::text[]) AS digest))
                """)
        }
    }

    /// Binds an instance to a key, unless it is bound to another key by now.
    /// - Returns: Whether the key already had the maximum. Of simultaneous reports, each sees the earlier ones if instances are
    ///   bound to keys.
    func bind(_ id: InstanceID, to attestKey: [UInt8]) async throws -> Bool {
        let count = try await execute(
            """
            SELECT count(*) FROM doorstep.instances
            WHERE tenant_id = \(tenant.uuid) AND attest_key_id = \(Data(attestKey))
            """
        ).one().decode(at: 0, as: Int.self)
        try await execute(
            """
            UPDATE doorstep.instances SET attest_key_id = \(Data(attestKey))
            WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid) AND attest_key_id IS NULL
            """)
        return count >= Instance.maximumOfKey
    }

    /// Nil if there is no such instance.
    func instance(_ id: InstanceID, at now: Date) async throws -> Instance? {
        let rows = try await execute(
            """
            SELECT i.bundle_id, i.app, i.environment, i.permission, i.launched_at, t.kinds, t.names, t.times,
                l.url, l.experience_url, l.location_identifier, l.launched_at, l.confirmed_at
            FROM doorstep.instances AS i LEFT JOIN doorstep.launches AS l USING (tenant_id, instance_id),
                (SELECT coalesce(array_agg(kind ORDER BY kind, name), '{}') AS kinds,
                    coalesce(array_agg(name ORDER BY kind, name), '{}') AS names,
                    coalesce(array_agg(registered_at ORDER BY kind, name), '{}') AS times
                FROM doorstep.push_tokens
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid) AND retired_at IS NULL) AS t
            WHERE i.tenant_id = \(tenant.uuid) AND i.instance_id = \(id.uuid)
            ORDER BY l.launched_at DESC, l.url
            """)
        guard let first = rows.first else { return nil }
        let (clip, app, environment, permission, launchedAt, kinds, names, times) = (
            try first.decode(at: 0, as: String.self), try first.decode(at: 1, as: String.self),
            try first.decode(at: 2, as: String.self), try first.decode(at: 3, as: String.self),
            try first.decode(at: 4, as: Date.self), try first.decode(at: 5, as: [String].self),
            try first.decode(at: 6, as: [String].self), try first.decode(at: 7, as: [Date].self)
        )
        let oldest = now.addingTimeInterval(-Instance.activityLifetime)
        var (hasToken, types, activities) = (false, [String](), [String]())
        for ((kind, name), registeredAt) in zip(zip(kinds, names), times) {
            switch TokenKind(kind: kind, name: name) {
            case .device: hasToken = true
            case .start(let type): types.append(type)
            case .activity(let activity): if registeredAt > oldest { activities.append(activity) }
            case nil: throw PersistenceError.unreadable("push_tokens")
            }
        }
        let launches = try rows.compactMap { row -> Launch? in
            guard let url = try row.decode(at: 8, as: String?.self) else { return nil }
            let location = try row.decode(at: 10, as: String?.self)
            return Launch(
                url: url, experience: try row.decode(at: 9),
                location: try PersistenceError.reading("launches") {
                    try location.map { text in try LocationIdentifier(text) }
                },
                launchedAt: try row.decode(at: 11), confirmedAt: try row.decode(at: 12))
        }
        return try PersistenceError.reading("instances") {
            guard let app = InstalledApp(rawValue: app),
                let environment = APNsEnvironment(rawValue: environment),
                let permission = NotificationPermission(rawValue: permission)
            else { throw PersistenceError.unreadable("instances") }
            return Instance(
                id: id, clip: try BundleID(clip), app: app, environment: environment, permission: permission,
                launchedAt: launchedAt, launches: launches, hasToken: hasToken, startableTypes: types,
                activities: activities)
        }
    }

    /// If the instance has too many launches, deletes the oldest ones. Returns the instance without them.
    func trimmed(_ instance: Instance) async throws -> Instance {
        let oldest = instance.launches.dropFirst(Instance.maximumLaunches)
        guard !oldest.isEmpty else { return instance }
        try await execute(
            """
            DELETE FROM doorstep.launches
            WHERE tenant_id = \(tenant.uuid) AND instance_id = \(instance.id.uuid) AND url = ANY (\(oldest.map(\.url)))
            """)
        return instance.with(launches: Array(instance.launches.prefix(Instance.maximumLaunches)))
    }

    /// If the instance has too many tokens of a kind, deletes the oldest ones.
    func trimTokens(_ kind: String, of instance: InstanceID, to maximum: Int) async throws {
        try await execute(
            """
            DELETE FROM doorstep.push_tokens
            WHERE tenant_id = \(tenant.uuid) AND instance_id = \(instance.uuid) AND kind = \(kind)
                AND name IN (
                    SELECT name FROM doorstep.push_tokens
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = \(instance.uuid) AND kind = \(kind)
                    ORDER BY registered_at DESC, name OFFSET \(maximum))
            """)
    }

    /// Deletes an instance with its launches and tokens.
    /// - Returns: Whether it existed.
    func deleteInstance(_ id: InstanceID) async throws -> Bool {
        try await execute(
            "DELETE FROM doorstep.instances WHERE tenant_id = \(tenant.uuid) AND instance_id = \(id.uuid)"
        ).affectedRows == 1
    }
}

/// The parts of the statement that keeps a report. `found`, `before` and `kept` are its first parts.
extension Query {
    /// Retires the other tokens of an instance that another app or clip replaces.
    fileprivate static func retiringTokens(
        of registration: InstanceRegistration, _ tenant: TenantID, except tokens: [GivenToken], at now: Date
    ) -> Query {
        """
        -- What the clip was known by is of no use for the app that took its place, and not given again.
        UPDATE doorstep.push_tokens AS t SET retired_at = \(now)
        FROM before
        WHERE is_another AND t.tenant_id = \(tenant.uuid) AND t.instance_id = \(registration.id.uuid)
            AND t.retired_at IS NULL AND t.digest <> ALL (ARRAY(
                SELECT decode(digest, 'hex') FROM unnest(\(tokens.map { $0.digests[0] })::text[]) AS digest))
        """
    }

    /// Adds the instance, or updates it unless it had a later launch.
    fileprivate static func writingInstance(
        of registration: InstanceRegistration, _ tenant: TenantID
    ) -> Query {
        """
        INSERT INTO doorstep.instances AS i
            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
        SELECT \(tenant.uuid), \(registration.id.uuid), bundle_id, \(registration.app.rawValue)::text,
            \(registration.environment.rawValue)::text, \(registration.permission.rawValue)::text,
            \(registration.launchedAt)
        FROM kept
        ON CONFLICT (tenant_id, instance_id) DO UPDATE
        SET bundle_id = excluded.bundle_id, app = excluded.app, environment = excluded.environment,
            permission = excluded.permission, launched_at = excluded.launched_at, updated_at = now()
        WHERE excluded.launched_at > i.launched_at
            OR excluded.launched_at = i.launched_at
                AND (excluded.bundle_id, excluded.app, excluded.environment, excluded.permission)
                    <> (i.bundle_id, i.app, i.environment, i.permission)
        RETURNING xmax = 0 AS is_new
        """
    }

    /// Adds the launch. If it exists, replaces its values by newer ones of this report.
    fileprivate static func writingLaunch(of registration: InstanceRegistration, _ tenant: TenantID) -> Query
    {
        """
        INSERT INTO doorstep.launches AS l
            (tenant_id, instance_id, url, experience_url, location_identifier, launched_at, confirmed_at)
        SELECT \(tenant.uuid), \(registration.id.uuid), \(registration.launch?.url)::text, \(registration.launch?.experience)::text,
            \(registration.launch?.location?.text)::text, \(registration.launchedAt), \(registration.launch?.confirmedAt)
        FROM kept WHERE \(registration.launch != nil)
        ON CONFLICT (tenant_id, instance_id, url) DO UPDATE
        SET launched_at = greatest(excluded.launched_at, l.launched_at),
            experience_url = CASE WHEN excluded.launched_at >= l.launched_at
                THEN excluded.experience_url ELSE l.experience_url END,
            location_identifier = CASE WHEN excluded.launched_at >= l.launched_at
                THEN excluded.location_identifier ELSE l.location_identifier END,
            -- A confirmation holds for its location as long as that is the launch's.
            confirmed_at = CASE
                WHEN excluded.location_identifier = l.location_identifier
                    THEN greatest(excluded.confirmed_at, l.confirmed_at)
                WHEN excluded.launched_at >= l.launched_at THEN excluded.confirmed_at
                ELSE l.confirmed_at END
        WHERE excluded.launched_at > l.launched_at
            OR excluded.confirmed_at > coalesce(l.confirmed_at, '-infinity')
            OR excluded.launched_at = l.launched_at
                AND (excluded.experience_url, excluded.location_identifier)
                    IS DISTINCT FROM (l.experience_url, l.location_identifier)
        """
    }

    /// Marks the existing tokens that the report contains, and returns their kinds.
    fileprivate static func renewing(
        _ tokens: [GivenToken], of registration: InstanceRegistration, _ tenant: TenantID, at now: Date
    ) -> Query {
        """
        UPDATE doorstep.push_tokens AS t SET registered_at = greatest(t.registered_at, \(now))
        FROM unnest(
            \(tokens.map(\.place.kind))::text[], \(tokens.map(\.place.name))::text[],
            \(tokens.map { $0.digests[0] })::text[]) AS given (kind, name, digest)
        WHERE t.tenant_id = \(tenant.uuid) AND t.instance_id = \(registration.id.uuid)
            AND t.kind = given.kind AND t.name = given.name AND t.digest = decode(given.digest, 'hex')
            AND t.retired_at IS NULL AND EXISTS (SELECT FROM before)
        RETURNING t.kind, t.name
        """
    }
}

extension TokenKind {
    /// Reads the values of ``kind`` and ``name``; nil for any other values.
    init?(kind: String, name: String) {
        switch kind {
        case "device": self = .device
        case "start": self = .start(attributesType: name)
        case "activity": self = .activity(name)
        default: return nil
        }
    }
}
