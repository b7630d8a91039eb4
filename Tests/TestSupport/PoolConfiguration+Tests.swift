public import PostgreSQL

extension PoolConfiguration {
    /// A pool's configuration with long timeouts, because many tests run at the same time.
    public static func forBusyMachines(
        conninfo: String, maximumConnections: Int = 8, applicationName: String = ""
    ) -> PoolConfiguration {
        PoolConfiguration(
            conninfo: conninfo, maximumConnections: maximumConnections, acquireTimeout: .seconds(600),
            connectTimeout: .seconds(600), statementTimeout: .seconds(600), applicationName: applicationName)
    }
}
