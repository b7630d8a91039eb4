public import Foundation
public import Invocation

/// What Doorstep has done about one URL: only what it created, or was told to adopt, has one.
public struct AppliedExperience: Sendable, Hashable {
    public var url: URLPrefix
    /// What was last sent.
    public var content: ExperienceContent
    public var phase: Phase
    /// When the content was sent.
    public var sentAt: Date
    /// When it was first seen that the catalogue has the URL no more; nil while it has.
    public var undesiredSince: Date?

    public enum Phase: Sendable, Hashable {
        /// The creation was sent and its answer is not known; `missingListings` complete listings since had not the URL.
        case creating(missingListings: Int)
        /// App Store Connect answered the creation, or the experience was adopted: it exists, whatever a listing says.
        case created(id: String)
    }

    /// How many complete listings without its URL settle that a creation without an answer has not happened. [ours]
    public static let settlingListings = 2

    public init(
        _ url: URLPrefix, _ content: ExperienceContent, _ phase: Phase, sentAt: Date = .distantPast,
        undesiredSince: Date? = nil
    ) {
        self.url = url
        self.content = content
        self.phase = phase
        self.sentAt = sentAt
        self.undesiredSince = undesiredSince
    }

    /// The identifier at App Store Connect, while it has one there.
    var id: String? {
        if case .created(let id) = phase { id } else { nil }
    }

    /// Whether a creation may have happened that nobody has seen yet.
    var isUnsettled: Bool {
        if case .creating(let missing) = phase { missing < Self.settlingListings } else { false }
    }
}
