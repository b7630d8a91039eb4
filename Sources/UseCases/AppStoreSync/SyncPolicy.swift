public import Cards
public import Foundation

/// The limits of a plan, and the app's requirements for every experience.
public struct SyncPolicy: Sendable, Hashable {
    /// The app's primary language; each experience must have a text in it. [Apple]
    public var primaryLanguage: CardLanguage
    /// The app's languages; each experience should have a text in each. [Apple]
    public var languages: Set<CardLanguage>
    /// Whether experiences at desired URLs that others created are taken over.
    public var adopts: Bool
    /// The most removals; with more to remove, none is.
    public var allowedRemovals: Int
    /// Names the count of a removal that is a mass removal.
    public var allowedMassRemoval: Int?
    /// Whether fewer than that are allowed too: a plan that was kept names each, and some of it may be done.
    public var allowsFewer: Bool
    /// Experiences that left the catalogue after this moment are not removed yet.
    public var removesWhatVanishedBefore: Date

    /// The time in seconds for which an experience stays registered after it was deleted from the catalogue. A day is enough to
    /// notice a mistake. [ours]
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

    /// The number of removals that counts as a mass removal: more than 10, and more than one in 20 of the desired experiences.
    /// [ours]
    ///
    /// Relative to the desired experiences, not the registered ones, so that applying a plan does not weaken its own guard.
    static func isMassRemoval(_ count: Int, desired: Int) -> Bool {
        count > max(10, desired / 20)
    }
}
