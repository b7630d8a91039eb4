/// Why something could not be stored or read.
public enum NotificationStoreError: Error, Sendable, Hashable {
    /// The database did not answer; whether what was to be written was written is not known.
    case unavailable
}
