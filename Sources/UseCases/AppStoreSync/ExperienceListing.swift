public import Cards

/// One listing of a clip's experiences, and what else App Store Connect has of them.
public struct ExperienceListing: Sendable, Hashable {
    public let listing: RemoteListing
    /// By experience and language: a change of texts names those that stay.
    public let localizationIDs: [String: [CardLanguage: String]]
    /// By experience.
    public let imageIDs: [String: String]

    public init(
        listing: RemoteListing, localizationIDs: [String: [CardLanguage: String]], imageIDs: [String: String]
    ) {
        self.listing = listing
        self.localizationIDs = localizationIDs
        self.imageIDs = imageIDs
    }
}
