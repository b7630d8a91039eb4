import Foundation
import Logging
import Persistence
import Platform
import ServiceLifecycle

/// Tells the database regularly that this server runs, so that the console can tell whether any server does.
struct HeartbeatService: Service {
    let servers: PostgresServers
    let logger: Logger
    private let id = UUID()

    init(servers: PostgresServers, logger: Logger) {
        self.servers = servers
        self.logger = logger
    }

    /// The mean interval. A server counts as stopped after ``InstallationStatus/Server/maximumSilence``. [ours]
    private static let pause = Duration.seconds(10)
    /// The maximum time of the record at the end. [ours]
    private static let lastRecord = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let (host, version) = (MachineName.current, BuildInfo.current.version)
            var isFailing = false
            while !Task.isCancelled {
                do {
                    try await servers.note(id, host: host, version: version)
                    isFailing = false
                } catch {
                    guard !Task.isCancelled else { break }
                    // Logged once: the database may be a standby.
                    if !isFailing {
                        logger.warning(
                            "cannot record in the database that this server runs",
                            metadata: ["error": "\(error)"])
                    }
                    isFailing = true
                }
                // Delayed randomly, so that servers do not write at the same time.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
        // If the database does not respond, the server counts as stopped some seconds later.
        await finish(within: Self.lastRecord) { try? await servers.end(id) }
    }
}
