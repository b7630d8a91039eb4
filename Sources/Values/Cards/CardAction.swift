/// The label of a card's button.
///
/// Source: App Store Connect API 4.4.1, `AppClipAction`. [Apple]
public enum CardAction: String, Sendable, Hashable, CaseIterable {
    case open = "OPEN"
    case view = "VIEW"
    case play = "PLAY"
}
