public import Geodesy
public import Invocation

/// Some of the locations without a confirmation.
public struct UnusedLocations: Sendable, Hashable {
    public let listed: [ListedLocation]
    /// The number of all such locations, including those before the listed ones; 0 if none is listed.
    public let count: Int

    public init(listed: [ListedLocation], count: Int) {
        self.listed = listed
        self.count = count
    }
}

/// A location as a list shows it.
public struct ListedLocation: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public let name: DisplayName
    public let region: CircularRegion
    /// The UTC day, `YYYY-MM-DD`, of the latest confirmation; nil if there is none.
    public let lastConfirmationDay: String?

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion,
        lastConfirmationDay: String?
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.lastConfirmationDay = lastConfirmationDay
    }
}
