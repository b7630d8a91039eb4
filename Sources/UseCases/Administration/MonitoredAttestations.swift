/// The number of monitored requests that is needed before attestation can be required, so that a clip does not lock out its own
/// users by mistake. [ours]
public enum MonitoredAttestations {
    /// The number of attested requests of the operation that is needed.
    public static let required = 100
    /// The number of UTC days in which these requests must have arrived, including today.
    public static let days = 7
}
