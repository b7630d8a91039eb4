/// An app, as far as registration needs it.
public struct StoreApp: Sendable, Hashable {
    public let id: String
    /// Such as `en-US`: each experience has a text in its language.
    public let primaryLocale: String
}
