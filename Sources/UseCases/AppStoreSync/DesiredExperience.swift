public import Invocation

/// An advanced experience as the catalogue wants it registered, its card inherited already.
public struct DesiredExperience: Sendable, Hashable {
    public var url: URLPrefix
    public var content: ExperienceContent
    /// The identifier of the location that it is bound to.
    public var location: String?
    /// Problems in the catalogue that prevent the registration.
    public var obstacles: Set<Obstacle>

    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// Apple verifies the host of a link when the experience is created. [Apple]
        case domainUnproved = "domain_unproved"
        case imageUnknown = "image_unknown"
        /// App Store Connect found its processing of the image to fail.
        case imageRejected = "image_rejected"
        /// App Store Connect refused the experience with these values.
        case refusedBefore = "refused_before"
    }

    public init(
        _ url: URLPrefix, _ content: ExperienceContent, location: String? = nil,
        obstacles: Set<Obstacle> = []
    ) {
        self.url = url
        self.content = content
        self.location = location
        self.obstacles = obstacles
    }
}
