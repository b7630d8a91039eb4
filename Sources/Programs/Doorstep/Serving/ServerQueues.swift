import Logging
import Persistence
import PostgreSQL
import ServiceLifecycle

/// The queues in which requests leave records. The server writes the records after the responses.
struct ServerQueues {
    let confirmations: ConfirmationQueue
    let keyUsage: KeyUsageQueue
    let attestations: AttestationCountQueue
    let launches: LaunchCountQueue
    let refusals: RefusedRequestQueue
    private let logger: Logger

    /// - Parameter spool: The file for confirmations that wait at the end; nil for none.
    init(_ pool: ConnectionPool, spool: ConfirmationSpool?, logger: Logger) {
        @Sendable func tell(_ message: Logger.Message, at level: Logger.Level = .info, _ error: any Error) {
            logger.log(level: level, message, metadata: ["error": "\(error)"])
        }
        self.logger = logger
        confirmations = ConfirmationQueue(pool, spool: spool) {
            tell("confirmations cannot be recorded: trying again", at: .warning, $0)
        }
        keyUsage = KeyUsageQueue(pool) { tell("the last use of keys cannot be stored: trying again", $0) }
        attestations = AttestationCountQueue(pool) {
            tell("attestations cannot be counted: trying again", $0)
        }
        launches = LaunchCountQueue(pool) { tell("launches cannot be counted: trying again", $0) }
        refusals = RefusedRequestQueue(pool) { tell("refused requests cannot be recorded: trying again", $0) }
    }

    /// The services that write the records.
    var services: [any Service] {
        let gathering: [any GatheringQueue] = [keyUsage, attestations, launches, refusals]
        return [RecordingService(confirmations, logger: logger)] + gathering.map(GatheringService.init)
    }
}
