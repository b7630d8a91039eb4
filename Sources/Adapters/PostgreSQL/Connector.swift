/// Makes a session with the first host that will do.
struct Connector {
    let string: ConnectionString
    let configuration: PoolConfiguration
    let wakeup: Wakeup
    /// Nil if the session prepares no statements.
    var preparation: Preparation?

    /// Tries the hosts in order, each with an equal share of the time that is left.
    ///
    /// A name lookup in libpq blocks beyond any deadline. Use `hostaddr` if that matters.
    func connect(isShutDown: @escaping () -> Bool) throws(PostgreSQLError) -> Session {
        let deadline = Deadline.after(configuration.connectTimeout)
        var attempts = string.attempts(applicationName: configuration.applicationName)[...]
        var failures: [String] = []
        while let keywords = attempts.popFirst() {
            do throws(PostgreSQLError) {
                return try Session(
                    keywords: keywords, configuration: configuration, wakeup: wakeup,
                    preparation: preparation, deadline: deadline.share(of: attempts.count + 1),
                    isShutDown: isShutDown)
            } catch .connectFailed(let reason) {
                failures.append(reason)
            } catch .timeout {
                continue
            } catch {
                throw error
            }
        }
        throw failures.isEmpty
            ? .timeout(.connecting) : .connectFailed(reason: failures.joined(separator: "; "))
    }
}
