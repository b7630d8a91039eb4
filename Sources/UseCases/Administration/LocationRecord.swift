public import Cards
public import Geodesy
public import Invocation
public import JSON
public import Lookups

/// A location as an operator keeps it: one row of an import.
public struct LocationRecord: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public var name: DisplayName
    public var region: CircularRegion
    /// The row's further columns by their names; Doorstep keeps them and gives them no meaning.
    public var metadata: JSONObject
    /// What lookups give back of it.
    public var details: LocationDetails
    /// The default for the cards of its experiences.
    public var card: Card

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion, metadata: JSONObject,
        details: LocationDetails = .none, card: Card = Card()
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.metadata = metadata
        self.details = details
        self.card = card
    }
}
