public import Cards

/// A list of a clip's experiences, with the other data of App Store Connect about them.
public struct ExperienceListing: Sendable, Hashable {
    public let listing: RemoteListing
    /// By experience and language: a change of texts names the texts that stay.
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
