import AppAttest
import ArgumentParser
import Foundation

/// The settings for verifying attestations.
struct AttestationOptions: ParsableArguments {
    @Option(Settings.attestRoot) var rootFile: String?

    /// The root certificate of attestations, and whether it differs from Apple's.
    func root() throws -> (root: AttestationRoot, isForeign: Bool) {
        guard let path = try Settings.attestRoot.value(rootFile) else {
            return (try AttestationRoot.apple(), false)
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw CommandError.unreadableFile(path)
        }
        guard let root = AttestationRoot(pem: String(decoding: bytes, as: UTF8.self)) else {
            throw CommandError.invalidSetting("--attest-root", "it must be one certificate in PEM")
        }
        return (root, true)
    }

    /// Nil if no secret is set.
    static func keys() throws(CommandError) -> AttestationKeys? {
        guard let secrets = try Settings.signingSecret.secrets() else { return nil }
        guard let keys = AttestationKeys(secrets: secrets) else { throw .weakSigningSecret }
        return keys
    }
}
