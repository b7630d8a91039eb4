public import Cards
public import Foundation

/// What a plan may do, and what the app asks of every experience.
public struct SyncPolicy: Sendable, Hashable {
    /// Of the app; each experience must have a text in it. [Apple]
    public var primaryLanguage: CardLanguage
    /// Of the app; each experience should have a text in all. [Apple]
    public var languages: Set<CardLanguage>
    /// Whether experiences that somebody else made at a desired URL are taken over.
    public var adopts: Bool
    /// The most removals; with more to remove, none is.
    public var allowedRemovals: Int
    /// Names the count of a removal that is a mass removal.
    public var allowedMassRemoval: Int?
    /// Whether fewer than that are allowed too: a plan that was kept names each, and some of it may be done.
    public var allowsFewer: Bool
    /// What has vanished from the catalogue after this moment is not removed yet.
    public var removesWhatVanishedBefore: Date

    /// How long an experience stays registered that the catalogue has no more, in seconds: a day, for who deleted it by mistake.
    /// [ours]
    public static let grace: TimeInterval = 86_400

    public init(
        primaryLanguage: CardLanguage, languages: Set<CardLanguage> = [], adopts: Bool = false,
        allowedRemovals: Int = 0, allowedMassRemoval: Int? = nil, allowsFewer: Bool = false,
        removesWhatVanishedBefore: Date = .distantFuture
    ) {
        self.primaryLanguage = primaryLanguage
        self.languages = languages
        self.adopts = adopts
        self.allowedRemovals = allowedRemovals
        self.allowedMassRemoval = allowedMassRemoval
        self.allowsFewer = allowsFewer
        self.removesWhatVanishedBefore = removesWhatVanishedBefore
    }

    /// From how many on removals are a mass removal: more than 10, and more than one in 20 of what is desired. [ours]
    ///
    /// Of what is desired, and not of what is registered: so a plan that is applied does not lift its own guard.
    static func isMassRemoval(_ count: Int, desired: Int) -> Bool {
        count > max(10, desired / 20)
    }
}
