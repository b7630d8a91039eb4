import Persistence

/// The secrets of `DOORSTEP_TOKEN_SECRET`: in the environment alone, where `ps` does not show them.
enum TokenSecrets {
    /// The keys that push tokens are sealed with; nil when no secret is set.
    static func sealingKeys() throws(CommandError) -> SealingKeys? {
        guard let secrets = try Settings.tokenSecret.secrets() else { return nil }
        guard let keys = SealingKeys(secrets: secrets) else { throw .weakTokenSecret }
        return keys
    }
}
