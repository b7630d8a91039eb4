import Formats
import Foundation

/// An advanced experience.
struct SimulatedExperience: Sendable {
    let id: String
    let clipID: String
    let link: String
    /// The written attributes.
    var attributes: JSONObject
    var localizationIDs: [String]
    var imageID: String
    let made: Date
    /// The time of the last write of its place.
    var placed: Date
    var removed: Date?
    var isInTransfer = false
    /// Values that responses contain instead of the attributes.
    var shown: JSONObject = [:]
    /// Whether the experience cannot be changed or removed.
    var isFrozen = false
}

/// The texts of an experience in one language.
struct SimulatedLocalization: Sendable {
    let id: String
    /// `language`, `title` and `subtitle`.
    var attributes: JSONObject

    var language: String? { attributes["language"]?.stringValue }
}
