import Logging
import ServiceLifecycle

/// Follows files that hold keys: what is in them is used also when they have changed.
struct KeyFileService<Version: Sendable>: Service {
    private let name: String
    private let logger: Logger
    private let follow: @Sendable (Version?) throws -> (version: Version, keys: [String])?

    /// How long a change can stay unnoticed.
    private let interval = Duration.seconds(10)

    /// - Parameters:
    ///   - name: What they are keys for.
    ///   - follow: Has what the files hold used, and returns their version and the keys' IDs; nil when they are the version
    ///     that is given.
    init(
        for name: String, logger: Logger,
        follow: @escaping @Sendable (Version?) throws -> (version: Version, keys: [String])?
    ) {
        self.name = name
        self.logger = logger
        self.follow = follow
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Of the start nothing is known but the keys: the first look reads the files once more.
            var known: Version?
            var failure: String?
            while !Task.isCancelled {
                do {
                    if let (version, keys) = try follow(known) {
                        known = version
                        logger.notice(
                            "keys for \(name)", metadata: ["keys": "\(keys.joined(separator: " "))"])
                    }
                    if failure != nil { logger.notice("the keys for \(name) can be read again") }
                    failure = nil
                } catch {
                    // Told once, and not every ten seconds.
                    if failure != "\(error)" {
                        logger.error(
                            "the keys for \(name) cannot be read: the previous keys stay in use",
                            metadata: ["error": "\(error)"])
                    }
                    failure = "\(error)"
                }
                try? await Task.sleep(for: interval)
            }
        }
    }
}
