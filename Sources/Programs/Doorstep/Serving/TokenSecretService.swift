import Logging
import Metrics
import Persistence
import PostgreSQL
import ServiceLifecycle

/// Compares the token secrets of this process with the secrets that sealed data in the database, at the start and while the process
/// runs.
struct TokenSecretService: Service {
    let stored: PostgresTokenSecrets
    let keys: SealingKeys
    let logger: Logger

    /// The interval between two comparisons. [ours]
    private static let pause = Duration.seconds(60)

    /// Makes the first comparison. If the database does not respond, it is made later.
    /// - Throws: `CommandError.foreignTokenSecret` if the secrets open none of the sealed data in the database.
    func start(allowingNewSecret: Bool) async throws {
        do {
            let comparison = try await stored.compare(with: keys)
            guard !comparison.opensNothing || allowingNewSecret else { throw CommandError.foreignTokenSecret }
            report(comparison)
        } catch let error as PostgreSQLError where error.isNoResponse {
            logger.warning(
                "DOORSTEP_TOKEN_SECRET is not compared with the database yet", metadata: ["error": "\(error)"]
            )
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                // Delayed randomly, so that servers do not read at the same time.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
                guard !Task.isCancelled else { break }
                // If the database does not respond, other services log it.
                if let comparison = try? await stored.compare(with: keys) { report(comparison) }
            }
        }
    }

    /// The log limits repeated errors.
    private func report(_ comparison: PostgresTokenSecrets.Comparison) {
        Meter(label: "doorstep_token_secrets_unreadable").set(comparison.unreadable)
        guard comparison.unreadable > 0 else { return }
        logger.error(
            "DOORSTEP_TOKEN_SECRET lacks secrets that sealed data in the database: this data is unreadable",
            metadata: ["readable": "\(comparison.readable)", "unreadable": "\(comparison.unreadable)"])
    }
}
