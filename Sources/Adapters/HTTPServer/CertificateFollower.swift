package import Foundation
package import Logging

/// Reads the files of a certificate and its key again each time it looks, and logs each event once.
package struct CertificateFollower {
    private let identity: TLSIdentity
    private let logger: Logger
    private var failure: TLSIdentity.Failure?
    private var warnedAt = Date.distantPast

    /// How long before the end of a certificate the log warns, in seconds. [ours]
    package static let warningTime: TimeInterval = 14 * 86_400
    /// How often it warns, in seconds. [ours]
    static let warningInterval: TimeInterval = 86_400

    package init(_ identity: TLSIdentity, logger: Logger) {
        self.identity = identity
        self.logger = logger
    }

    package mutating func look(at now: Date) {
        do throws(TLSIdentity.Failure) {
            if try identity.reread() {
                warnedAt = .distantPast
                logger.notice("new connections use the changed certificate", metadata: metadata)
            } else if failure != nil {
                logger.notice("the certificate and its key can be used again", metadata: metadata)
            }
            failure = nil
        } catch {
            if error != failure {
                logger.error(
                    "the changed certificate or key cannot be used: the previous pair stays in use",
                    metadata: ["error": "\(error)"])
            }
            failure = error
        }
        warn(at: now)
    }

    private mutating func warn(at now: Date) {
        guard identity.expiresAt < now + Self.warningTime, warnedAt <= now - Self.warningInterval else {
            return
        }
        warnedAt = now
        logger.warning(
            identity.expiresAt < now ? "the certificate has expired" : "the certificate expires soon",
            metadata: metadata)
    }

    private var metadata: Logger.Metadata {
        ["file": "\(identity.certificate)", "expires": "\(identity.expiresAt.formatted(.iso8601))"]
    }
}
