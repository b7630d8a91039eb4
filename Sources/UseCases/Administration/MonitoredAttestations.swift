/// The number of monitored requests that is needed before attestation can be required, so that a clip does not lock out its own
/// users by mistake. [ours]
public enum MonitoredAttestations {
    /// How many requests of the operation must have brought it.
    public static let required = 100
    /// In how many days of UTC, today included.
    public static let days = 7
}
