import Foundation

/// The environment variables from which libpq takes a connection's missing settings.
///
/// A connection string cannot override them: an empty `service` is an unknown service, and programs that run with the embedded
/// server have their own connections.
enum LibpqEnvironment {
    /// Removes the variables from this process, and so from the programs that it runs.
    ///
    /// No thread has a connection to an embedded server before one was started or joined, and `unsetenv` frees no text that
    /// another thread's `getenv` may have found. Unset variables are left alone.
    static func clear() {
        for name in names where getenv(name) != nil { unsetenv(name) }
    }

    /// Source: PostgreSQL's manual, "Environment Variables" of libpq, releases 15 to 18, with the variables of older releases.
    static let names = [
        "PGAPPNAME", "PGCHANNELBINDING", "PGCLIENTENCODING", "PGCONNECT_TIMEOUT", "PGDATABASE", "PGDATESTYLE",
        "PGGEQO", "PGGSSDELEGATION", "PGGSSENCMODE", "PGGSSLIB", "PGHOST", "PGHOSTADDR", "PGKRBSRVNAME",
        "PGLOADBALANCEHOSTS", "PGLOCALEDIR", "PGMAXPROTOCOLVERSION", "PGMINPROTOCOLVERSION", "PGOPTIONS",
        "PGPASSFILE", "PGPASSWORD", "PGPORT", "PGREALM", "PGREQUIREAUTH", "PGREQUIREPEER", "PGREQUIRESSL",
        "PGSERVICE", "PGSERVICEFILE", "PGSSLCERT", "PGSSLCERTMODE", "PGSSLCOMPRESSION", "PGSSLCRL",
        "PGSSLCRLDIR", "PGSSLKEY", "PGSSLMAXPROTOCOLVERSION", "PGSSLMINPROTOCOLVERSION", "PGSSLMODE",
        "PGSSLNEGOTIATION", "PGSSLROOTCERT", "PGSSLSNI", "PGSYSCONFDIR", "PGTARGETSESSIONATTRS", "PGTZ",
        "PGUSER",
    ]
}
