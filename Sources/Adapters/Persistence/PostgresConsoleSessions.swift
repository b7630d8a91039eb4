public import Administration
import Crypto
public import Foundation
public import Invocation
public import PostgreSQL
import Tenancy

/// Links and sessions of the console in PostgreSQL, as `doorstep_admin`. The database has only the digests of their secrets.
public struct PostgresConsoleSessions: Sendable {
    private let pool: ConnectionPool
    private let key: StoredConsoleKey

    public init(_ pool: ConnectionPool) {
        self.pool = pool
        key = StoredConsoleKey(pool)
    }

    /// Makes a secret for a link or a session, signed with the deployment's key.
    public func makeSecret() async throws -> ConsoleSecret { try await key().makeSecret() }

    /// Whether this deployment made a secret. The secret may have expired since. Only the first call reads the database.
    public func hasMade(_ secret: ConsoleSecret) async throws -> Bool { try await key().hasMade(secret) }

    /// Stores a link for ``ConsoleSession/linkLifetime``.
    /// - Parameter length: The longest time of the session, in seconds, from 60 to ``ConsoleSession/maximumLength``.
    public func add(
        _ link: ConsoleSecret, for access: ConsoleAccess, lasting length: Int, at now: Date
    ) async throws {
        try await write { transaction in
            // Each new session also deletes expired ones.
            try await transaction.execute("DELETE FROM doorstep.console_links WHERE expires_at <= \(now)")
            try await transaction.execute("DELETE FROM doorstep.console_sessions WHERE expires_at <= \(now)")
            try await transaction.execute(
                """
                INSERT INTO doorstep.console_links (digest, name, limited_to, read_only, session_seconds, expires_at)
                VALUES (\(link.digest), \(access.name.text), \(access.tenant?.uuid), \(access.isReadOnly), \(length),
                    \(now.addingTimeInterval(ConsoleSession.linkLifetime)))
                """)
            try await transaction.note(.linkMade, access.name)
        }
    }

    /// The rights that a link gives, without using the link. Nil if the link was used, has expired or never existed.
    public func access(by link: ConsoleSecret, at now: Date) async throws -> ConsoleAccess? {
        guard try await hasMade(link) else { return nil }
        return try await pool.withTransaction(as: .admin) { transaction in
            try await transaction.execute(
                """
                SELECT name, limited_to, read_only FROM doorstep.console_links
                WHERE digest = \(link.digest) AND expires_at > \(now)
                """
            ).first.map { row in
                let (name, tenant, isReadOnly) = try row.decode(String.self, UUID?.self, Bool.self)
                return try PersistenceError.reading("console_links") {
                    ConsoleAccess(
                        name: try DisplayName(stored: name), tenant: tenant.map(TenantID.init),
                        isReadOnly: isReadOnly)
                }
            }
        }
    }

    /// Uses a link, and begins its session.
    /// - Parameter earlier: A session that the new one replaces and ends; nil for none.
    /// - Returns: Nil if the link was used, has expired or never existed. The earlier session then continues.
    public func signIn(
        by link: ConsoleSecret, as session: ConsoleSecret, insteadOf earlier: ConsoleSecret? = nil,
        at now: Date
    ) async throws -> ConsoleSession? {
        guard try await hasMade(link) else { return nil }
        return try await write { transaction in
            let used = try await transaction.execute(
                """
                DELETE FROM doorstep.console_links WHERE digest = \(link.digest) AND expires_at > \(now)
                RETURNING name, limited_to, read_only, session_seconds
                """)
            guard let row = used.first else { return nil }
            let (name, tenant, isReadOnly, length) = try row.decode(
                String.self, UUID?.self, Bool.self, Int32.self)
            let rows = try await transaction.execute(
                """
                INSERT INTO doorstep.console_sessions
                    (digest, name, limited_to, read_only, created_at, seen_at, expires_at)
                VALUES (\(session.digest), \(name), \(tenant), \(isReadOnly), \(now), \(now),
                    \(now.addingTimeInterval(TimeInterval(length))))
                RETURNING \(unsafeSQL: ConsoleSession.columns)
                """)
            let session = try ConsoleSession(row: rows.one())
            if let earlier {
                let ended = try await transaction.execute(
                    "DELETE FROM doorstep.console_sessions WHERE digest = \(earlier.digest) RETURNING name")
                if let row = ended.first {
                    try await transaction.note(
                        .signedOut,
                        try PersistenceError.reading("console_sessions") {
                            try DisplayName(stored: try row.decode(at: 0, as: String.self))
                        })
                }
            }
            try await transaction.note(.signedIn, session.access.name)
            return session
        }
    }

    /// Returns the session, and records its use. Nil if the session has ended. A secret that this deployment did not make causes no
    /// query.
    public func session(_ secret: ConsoleSecret, at now: Date) async throws -> ConsoleSession? {
        guard try await hasMade(secret) else { return nil }
        let session = try await pool.withTransaction(as: .admin) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: ConsoleSession.columns) FROM doorstep.console_sessions
                WHERE digest = \(secret.digest) AND expires_at > \(now)
                    AND seen_at > \(now.addingTimeInterval(-ConsoleSession.idleTime))
                """
            ).first.map { try ConsoleSession(row: $0) }
        }
        guard let session, session.seenAt < now.addingTimeInterval(-60) else { return session }
        try await write { transaction in
            _ = try await transaction.execute(
                "UPDATE doorstep.console_sessions SET seen_at = \(now) WHERE session_id = \(session.id)")
        }
        return session
    }

    /// The open sessions, newest first, at most 1,000.
    public func sessions(at now: Date) async throws -> [ConsoleSession] {
        try await pool.withTransaction(as: .admin) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: ConsoleSession.columns) FROM doorstep.console_sessions
                WHERE expires_at > \(now) AND seen_at > \(now.addingTimeInterval(-ConsoleSession.idleTime))
                ORDER BY created_at DESC, session_id LIMIT 1000
                """
            ).map { try ConsoleSession(row: $0) }
        }
    }

    /// Ends a session, if it is open.
    /// - Parameter name: The person who requests it.
    public func end(_ id: UUID, by name: DisplayName) async throws {
        try await write { transaction in
            let ended = try await transaction.execute(
                "DELETE FROM doorstep.console_sessions WHERE session_id = \(id) RETURNING name = \(name.text)"
            )
            guard let row = ended.first else { return }
            let isOwn: Bool = try row.decode(at: 0)
            try await transaction.note(isOwn ? .signedOut : .sessionEnded, name)
        }
    }

    /// Ends all sessions, and deletes unused links.
    public func endAll(by name: DisplayName) async throws {
        try await write { transaction in
            try await transaction.execute("DELETE FROM doorstep.console_links")
            try await transaction.execute("DELETE FROM doorstep.console_sessions")
            try await transaction.note(.allSessionsEnded, name)
        }
    }

    /// Records that a key, or the secret of a webhook, was shown.
    public func noteKeyShown(to name: DisplayName) async throws {
        try await write { try await $0.note(.keyShown, name) }
    }

    /// Records a sign-in by a proxy.
    public func noteSignIn(of name: DisplayName) async throws {
        try await write { try await $0.note(.signedIn, name) }
    }

    /// Up to `limit` events, newest first, before a given event.
    public func events(before: Int?, limit: Int) async throws -> [ConsoleEvent] {
        try await pool.withTransaction(as: .admin) { transaction in
            try await transaction.execute(
                """
                SELECT event_id, at, event, name, login FROM doorstep.console_events
                WHERE \(before)::bigint IS NULL OR event_id < \(before)
                ORDER BY event_id DESC LIMIT \(limit)
                """
            ).map { row in
                let (id, at, event, name, login) = try row.decode(
                    Int.self, Date.self, String.self, String.self, String.self)
                guard let kind = ConsoleEvent.Kind(rawValue: event) else {
                    throw PersistenceError.unreadable("console_events")
                }
                return ConsoleEvent(id: id, at: at, kind: kind, name: name, login: login)
            }
        }
    }

    /// Deletes old events, a thousand in each transaction.
    /// - Parameter retention: The number of days for which events are kept, in ``AuditLogRetention/retentions``.
    /// - Returns: The number of deleted events.
    public func pruneEvents(retention: Int) async throws -> Int {
        try await pool.exhaust(
            "SELECT doorstep.prune_console_events(\(retention)::integer)", as: .admin)
    }

    private func write<Result: Sendable>(
        _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTransaction(as: .admin, .readWrite, body)
    }
}

extension Transaction {
    fileprivate func note(_ event: ConsoleEvent.Kind, _ name: DisplayName) async throws {
        try await execute(
            "INSERT INTO doorstep.console_events (event, name) VALUES (\(event.rawValue), \(name.text))")
    }
}

extension ConsoleSecret {
    /// SHA-256 of the text. The text itself is never stored.
    fileprivate var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}

extension ConsoleSession {
    fileprivate static let columns =
        "session_id, name, limited_to, read_only, created_at, seen_at, expires_at"

    /// Reads the columns in ``columns``.
    fileprivate init(row: Row) throws {
        let (id, name, tenant, isReadOnly, createdAt, seenAt, expiresAt) = try row.decode(
            UUID.self, String.self, UUID?.self, Bool.self, Date.self, Date.self, Date.self)
        self = try PersistenceError.reading("console_sessions") {
            ConsoleSession(
                id: id,
                access: ConsoleAccess(
                    name: try DisplayName(stored: name), tenant: tenant.map(TenantID.init),
                    isReadOnly: isReadOnly),
                createdAt: createdAt, seenAt: seenAt, expiresAt: expiresAt)
        }
    }
}
