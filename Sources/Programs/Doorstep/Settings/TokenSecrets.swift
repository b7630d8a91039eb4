import Persistence

/// The secrets of `DOORSTEP_TOKEN_SECRET`: in the environment alone, where `ps` does not show them.
enum TokenSecrets {
    /// The keys that push tokens are sealed with; nil when no secret is set.
    static func sealingKeys() throws(CommandError) -> SealingKeys? {
        guard let text = Environment.text("DOORSTEP_TOKEN_SECRET") else { return nil }
        guard let keys = SealingKeys(secrets: text.split(separator: ",").map(String.init)) else {
            throw .weakTokenSecret
        }
        return keys
    }
}
