import Foundation

/// The environment variables that libpq takes a connection's missing settings from.
///
/// A connection string cannot override them: an empty `service` is an unknown service, and programs that run with the embedded
/// server have their own connections.
enum LibpqEnvironment {
    /// Removes them from this process, and so from the programs it runs.
    ///
    /// No thread has a connection to an embedded server before one was started or joined, and `unsetenv` frees no text that
    /// another thread's `getenv` may have found. Unset variables are left alone.
    static func clear() {
        for name in names where getenv(name) != nil { unsetenv(name) }
    }

    /// PostgreSQL's manual, "Environment Variables" of libpq, releases 15 to 18, and what older ones had.
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
