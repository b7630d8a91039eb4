public import Formats

/// One value of an experience that is to change at App Store Connect.
public struct FieldChange: Sendable, Hashable {
    /// A path of ``ExperienceContent/fields``.
    public let path: String
    /// The value at App Store Connect; nil if it has none.
    public let old: JSONValue?
    public let new: JSONValue
    public let cause: Cause

    /// The side that has changed since the last registration.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The desired value changed in the catalogue, or is managed for the first time.
        case intended
        /// The value was changed at Apple.
        case drift
        /// Both; the desired value wins.
        case conflict
    }
}
