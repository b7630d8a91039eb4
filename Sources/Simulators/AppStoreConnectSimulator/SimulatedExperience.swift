import Foundation
import JSON

/// An advanced experience.
struct SimulatedExperience: Sendable {
    let id: String
    let clipID: String
    let link: String
    /// Those that are written.
    var attributes: JSONObject
    var localizationIDs: [String]
    var imageID: String
    let made: Date
    /// When its place was written last.
    var placed: Date
    var removed: Date?
    var isInTransfer = false
    /// What reads answer in the place of attributes.
    var shown: JSONObject = [:]
    /// Whether it cannot be changed or removed.
    var isFrozen = false
}

/// What an experience says in one language.
struct SimulatedLocalization: Sendable {
    let id: String
    /// `language`, `title` and `subtitle`.
    var attributes: JSONObject

    var language: String? { attributes["language"]?.stringValue }
}
