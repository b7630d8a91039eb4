import Logging
import ServiceLifecycle

/// Follows files with keys, and uses their new content after changes.
struct KeyFileService<Version: Sendable>: Service {
    private let name: String
    private let logger: Logger
    private let follow: @Sendable (Version?) throws -> (version: Version, keys: [String])?

    /// - Parameters:
    ///   - name: The purpose of the keys.
    ///   - follow: Applies the content of the files, and returns their version and the IDs of the keys; nil if the version is
    ///     unchanged.
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
            // The version at the start is unknown, so the first check reads the files once more.
            var known: Version?
            var failure: String?
            for await _ in FollowedFiles.looks() {
                do {
                    if let (version, keys) = try follow(known) {
                        known = version
                        logger.notice(
                            "keys for \(name)", metadata: ["keys": "\(keys.joined(separator: " "))"])
                    }
                    if failure != nil { logger.notice("the keys for \(name) can be read again") }
                    failure = nil
                } catch {
                    // Logged once, and not at every check.
                    if failure != "\(error)" {
                        logger.error(
                            "the keys for \(name) cannot be read: the previous keys stay in use",
                            metadata: ["error": "\(error)"])
                    }
                    failure = "\(error)"
                }
            }
        }
    }
}
