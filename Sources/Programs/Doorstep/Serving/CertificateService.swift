import Foundation
import HTTPServer
import Logging
import ServiceLifecycle

/// Follows the files of the TLS certificate and its key, and warns before the certificate expires.
struct CertificateService: Service {
    let identity: TLSIdentity
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var follower = CertificateFollower(identity, logger: logger)
            for await _ in FollowedFiles.looks() { follower.look(at: Date()) }
        }
    }
}
