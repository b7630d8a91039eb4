import Administration
import Crypto
import PostgreSQL
import Synchronization

/// The key that signs links and cookies of the console (HMAC-SHA256, RFC 2104), truncated to 128 bits.
struct ConsoleKey: Sendable {
    private let key: SymmetricKey

    init(_ bytes: [UInt8]) {
        key = SymmetricKey(data: bytes)
    }

    func makeSecret() -> ConsoleSecret { .generate(signedBy: signature) }

    /// Whether a secret was made with this key. Takes the same time for all secrets.
    func hasMade(_ secret: ConsoleSecret) -> Bool {
        zip(signature(of: secret.random), secret.signature).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func signature(of random: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: random, using: key).prefix(ConsoleSecret.signatureLength))
    }
}

/// The deployment's key, which is read from the database once.
final class StoredConsoleKey: Sendable {
    private let pool: ConnectionPool
    private let known = Mutex<ConsoleKey?>(nil)

    init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    func callAsFunction() async throws -> ConsoleKey {
        if let key = known.withLock({ $0 }) { return key }
        let key = try await pool.withTransaction(as: .admin) { transaction in
            let rows = try await transaction.execute("SELECT key FROM doorstep.console_key")
            return ConsoleKey(try rows.one().decode(at: 0, as: [UInt8].self))
        }
        known.withLock { $0 = key }
        return key
    }
}
