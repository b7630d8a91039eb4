import Persistence

/// The secrets of `DOORSTEP_TOKEN_SECRET`. They are in the environment only, because `ps` would show them in flags.
enum TokenSecrets {
    /// The keys that seal push tokens; nil if no secret is set.
    static func sealingKeys() throws(CommandError) -> SealingKeys? {
        guard let secrets = try Settings.tokenSecret.secrets() else { return nil }
        guard let keys = SealingKeys(secrets: secrets) else { throw .weakTokenSecret }
        return keys
    }
}
