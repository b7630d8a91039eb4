import Invocation

/// An advanced experience as App Store Connect lists it.
public struct RemoteExperience: Sendable, Hashable {
    public var id: String
    /// Empty if it cannot be read.
    public var link: String
    /// Its image is the digest that Doorstep has on record for the resource, nil for any other.
    public var content: ExperienceContent
    public var status: Status
    public var placeStatus: PlaceStatus?
    /// The first member that could not be read, with its value, such as `status "IN_LIMBO"`; nil if all could. Such an
    /// experience is never changed or removed. [ours]
    public var unreadable: String?

    /// Source: App Store Connect API 4.4.1, `AppClipAdvancedExperience`. [Apple]
    public enum Status: String, Sendable, Hashable, CaseIterable {
        case received = "RECEIVED"
        case deactivated = "DEACTIVATED"
        case appTransferInProgress = "APP_TRANSFER_IN_PROGRESS"
    }

    /// Source: App Store Connect API 4.4.1, `AppClipAdvancedExperience`. [Apple]
    public enum PlaceStatus: String, Sendable, Hashable, CaseIterable {
        case pending = "PENDING"
        case matched = "MATCHED"
        case noMatch = "NO_MATCH"
    }

    public init(
        id: String, link: String, _ content: ExperienceContent, status: Status = .received,
        placeStatus: PlaceStatus? = nil, unreadable: String? = nil
    ) {
        self.id = id
        self.link = link
        self.content = content
        self.status = status
        self.placeStatus = placeStatus
        self.unreadable = unreadable
    }
}

extension RemoteExperience {
    /// The canonical link, as in the catalogue. An invalid link is stored unchanged. Without a link, the text names the experience.
    var canonicalURL: String {
        link.isEmpty ? "experience \(id)" : (try? InvocationURL(link))?.canonical ?? link
    }
}
