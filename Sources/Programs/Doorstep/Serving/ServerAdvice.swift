/// Facts about a set-up that do not stop a server. Its log and 'doorstep doctor' name them.
enum ServerAdvice: String {
    case noSigningSecret = "DOORSTEP_SIGNING_SECRET is not set: signed URLs and attestations are refused"
    case noTokenSecret = "DOORSTEP_TOKEN_SECRET is not set: instances cannot be registered"
    case noAPNsKeys = "DOORSTEP_APNS_KEYS is not set: this server delivers no notifications"
    case foreignRoot =
        "a root other than Apple's is trusted for attestations (--attest-root): the holder of its key can attest any app"
    case superuser =
        "the login of the database is a superuser's: use one with the roles of the server alone (deploy/postgres/create-logins.sql)"
    case standby = "the database is a standby, which refuses writes"

    static let standbyRemedy =
        "Name all database servers in DATABASE_URL, with target_session_attrs=read-write: then the primary is used."
}
