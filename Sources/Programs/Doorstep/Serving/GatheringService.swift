import Persistence
import ServiceLifecycle

/// Writes the data collected in memory, while the server runs and once more at the end.
struct GatheringService: Service {
    private let writes: @Sendable () async -> Void
    private let last: @Sendable () async -> Void

    /// Creates the service for the days of keys' last use.
    init(_ usage: KeyUsageQueue) {
        (writes, last) = ({ await usage.run() }, { await usage.flush() })
    }

    /// Creates the service for the counts of attested requests.
    init(_ counts: AttestationCountQueue) {
        (writes, last) = ({ await counts.run() }, { await counts.flush() })
    }

    /// Creates the service for the counts of lookups and launch reports.
    init(_ counts: LaunchCountQueue) {
        (writes, last) = ({ await counts.run() }, { await counts.flush() })
    }

    /// Creates the service for refused requests.
    init(_ requests: RefusedRequestQueue) {
        (writes, last) = ({ await requests.run() }, { await requests.flush() })
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await writes() }
        await last()
    }
}
