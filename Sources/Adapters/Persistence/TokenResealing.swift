import Foundation
import Notifications
public import PostgreSQL
public import Tenancy

/// Encrypts tokens of older secrets again, so that these secrets can be removed.
///
/// The role is `doorstep_app`. Each transaction has a few hundred rows. Servers can run at the same time.
public struct TokenResealing: Sendable {
    /// The numbers of encrypted values of a tenant, by result.
    public struct Result: Sendable, Hashable {
        public var resealed = 0
        /// Tokens that were changed or whose secret is unknown.
        public var unreadable = 0

        public init(resealed: Int = 0, unreadable: Int = 0) {
            self.resealed = resealed
            self.unreadable = unreadable
        }

        public static func + (one: Self, other: Self) -> Self {
            Self(resealed: one.resealed + other.resealed, unreadable: one.unreadable + other.unreadable)
        }
    }

    private let pool: ConnectionPool
    private let keys: SealingKeys

    private static let batch = 500

    /// - Parameter keys: The new secret first, then the replaced ones.
    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    /// Encrypts all tokens of a tenant again that the newest secret did not encrypt.
    public func reseal(_ tenant: TenantID) async throws -> Result {
        var result = Result()
        var last: (instance: UUID, place: TokenKind)?
        repeat {
            let (done, next) = try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                try await transaction.reseal(by: keys, after: last, limit: Self.batch)
            }
            result.resealed += done.resealed
            result.unreadable += done.unreadable
            last = next
        } while last != nil
        return result
    }
}

extension TenantTransaction {
    /// - Returns: The results, and the last row of a batch if more may follow.
    fileprivate func reseal(
        by keys: SealingKeys, after last: (instance: UUID, place: TokenKind)?, limit: Int
    ) async throws -> (TokenResealing.Result, next: (instance: UUID, place: TokenKind)?) {
        // A registration of the same token waits meanwhile, and uses the newest secret anyway.
        let rows = try await execute(
            """
            SELECT instance_id, kind, name, sealed FROM doorstep.push_tokens
            WHERE tenant_id = \(tenant.uuid)
                AND (instance_id, kind, name)
                    > (\(last?.instance ?? .lowest), \(last?.place.kind ?? ""), \(last?.place.name ?? ""))
                AND substr(sealed, 1, \(keys.newestMark.count)::integer) <> \(keys.newestMark)
            ORDER BY instance_id, kind, name LIMIT \(limit) FOR UPDATE
            """)
        let tenantKeys = keys.of(tenant)
        var result = TokenResealing.Result()
        var next: (instance: UUID, place: TokenKind)?
        for row in rows {
            let (instance, kind, name, sealed) = try row.decode(
                UUID.self, String.self, String.self, [UInt8].self)
            guard let place = TokenKind(kind: kind, name: name) else {
                throw PersistenceError.unreadable("push_tokens")
            }
            next = (instance, place)
            let id = InstanceID(instance)
            guard let token = tenantKeys.openToken(sealed, for: id, at: place) else {
                result.unreadable += 1
                continue
            }
            try await execute(
                """
                UPDATE doorstep.push_tokens
                SET sealed = \(try tenantKeys.seal(token, for: id, at: place)),
                    digest = \(tenantKeys.digests(of: token)[0])
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(instance) AND kind = \(kind) AND name = \(name)
                """)
            result.resealed += 1
        }
        return (result, rows.count == limit ? next : nil)
    }
}
