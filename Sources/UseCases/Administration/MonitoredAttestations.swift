/// How much of what a clip is to require must have been monitored, so that it does not shut out its own people by mistake. [ours]
public enum MonitoredAttestations {
    /// How many requests of the operation must have brought it.
    public static let required = 100
    /// In how many days of UTC, today included.
    public static let days = 7
}
