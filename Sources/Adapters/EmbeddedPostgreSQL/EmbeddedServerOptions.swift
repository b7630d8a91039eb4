/// The options of an embedded server. The options of the process that starts it also apply to processes that join it.
public struct EmbeddedServerOptions: Sendable, Hashable {
    /// Whether commits survive a crash of the machine; false is for tests.
    public var isDurable: Bool
    /// Further lines of `postgresql.conf`.
    public var settings: [String: String]

    public init(isDurable: Bool = true, settings: [String: String] = [:]) {
        self.isDurable = isDurable
        self.settings = settings
    }
}
