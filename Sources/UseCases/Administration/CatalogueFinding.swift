public import Invocation

/// A warning about something a tenant has registered; never a refusal.
public struct CatalogueFinding: Sendable, Hashable, CustomStringConvertible {
    /// The codes that ``LintFinding/Code`` does not have.
    public enum Code: String, Sendable, CaseIterable {
        /// The clip serves many businesses, and the experience is for none of them.
        case unbound
        /// The clip has no default experience, and every clip needs one. [Apple]
        case missingDefaultExperience = "missing_default_experience"
        /// No version of the app with the clip is on the App Store.
        case unpublished
        /// URLs lead to the location, but only experiences with which notifications for everyone at it are refused.
        case notBusinessSpecific = "not_business_specific"
        /// The experience's own URL contains an identifier without a location, or an unknown short code.
        case unknownIdentifier = "unknown_identifier"
        /// The URL that a short code stands for leads to no location.
        case deadShortCode = "dead_short_code"
        /// No registered URL leads to the location.
        case unreachableLocation = "unreachable_location"
        /// The location has latitude and longitude 0, as if they were left out.
        case nullIsland = "null_island"
        /// Another location has the same coordinates.
        case repeatedCoordinates = "repeated_coordinates"
        /// The location is far from all others, and near one of them after one usual mistake is corrected.
        case misplacedCoordinates = "misplaced_coordinates"
        /// The location is far from all others, unlike nearly all locations.
        case remoteLocation = "remote_location"
        /// A phone's position is often no better than the radius.
        case smallRadius = "small_radius"
        /// The experience's pages have no image, without which Messages shows no preview.
        case noPreviewImage = "no_preview_image"
        /// The API serves the experience's path, so its landing pages are not shown.
        case shadowedByAPI = "shadowed_by_api"
        /// Short codes are redirected at the host, but this one is not.
        case notRedirected = "not_redirected"
        /// The association file of a proved host lets an app open every URL of the host.
        case wholeSite = "whole_site"
    }

    /// A name that stays the same across versions.
    public let code: String
    /// The experience or short code's URL that the warning is about.
    public let url: String?
    public let location: LocationIdentifier?
    public let shortCode: String?
    /// The URL or location that it conflicts with.
    public let other: String?
    public let description: String

    init(
        _ code: Code, url: String? = nil, location: LocationIdentifier? = nil, shortCode: String? = nil,
        other: String? = nil, _ description: String
    ) {
        self.code = code.rawValue
        self.url = url
        self.location = location
        self.shortCode = shortCode
        self.other = other
        self.description = description
    }

    init(_ finding: LintFinding) {
        code = finding.code.rawValue
        url = finding.experience.url.canonical
        location = nil
        shortCode = nil
        other = finding.other?.url.canonical
        description = finding.description
    }
}
