public import Foundation
public import Invocation

/// The applied state of one URL. Only experiences that Doorstep created or was told to adopt have one.
public struct AppliedExperience: Sendable, Hashable {
    public var url: URLPrefix
    /// The content that was sent last.
    public var content: ExperienceContent
    public var phase: Phase
    /// When the content was sent.
    public var sentAt: Date
    /// When it was first seen that the catalogue has the URL no more; nil while it has.
    public var undesiredSince: Date?

    public enum Phase: Sendable, Hashable {
        /// The creation was sent and got no response; `missingListings` complete lists since then lacked the URL.
        case creating(missingListings: Int)
        /// App Store Connect confirmed the creation, or the experience was adopted: it exists, even if a list lacks it.
        case created(id: String)
    }

    /// The number of complete lists without the URL after which a creation without a response counts as not done. [ours]
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

    /// Whether a creation may have happened without a confirmation.
    var isUnsettled: Bool {
        if case .creating(let missing) = phase { missing < Self.settlingListings } else { false }
    }
}
