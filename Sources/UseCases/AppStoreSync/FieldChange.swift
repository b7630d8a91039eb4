public import JSON

/// One value of an experience that is to change at App Store Connect.
public struct FieldChange: Sendable, Hashable {
    /// As ``ExperienceContent/fields`` has it.
    public let path: String
    /// What App Store Connect has, nil when nothing.
    public let old: JSONValue?
    public let new: JSONValue
    public let cause: Cause

    /// Which of the two sides moved since the last registration.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// What is desired changed here, or is managed for the first time.
        case intended
        /// Somebody changed it at Apple.
        case drift
        /// Both; what is desired wins.
        case conflict
    }
}
