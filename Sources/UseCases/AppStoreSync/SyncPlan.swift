public import Foundation

/// The changes to make at App Store Connect, by URL. Making a plan changes nothing.
public struct SyncPlan: Sendable, Hashable {
    /// Each URL once, ordered by its text.
    public let rows: [Row]

    public struct Row: Sendable, Hashable {
        /// The canonical URL. If the remote link is not a URL, the link; if the remote experience has no link, `experience ID`.
        public let url: String
        public let step: Step
        public let findings: [Finding]
    }

    /// The content to send is complete: it includes the values at App Store Connect that Doorstep does not manage.
    public enum Step: Sendable, Hashable {
        case create(ExperienceContent)
        case update(id: String, [FieldChange], ExperienceContent)
        case remove(id: String)
        /// The experience is recorded as Doorstep's own. It is updated if something differs.
        case adopt(id: String, [FieldChange], ExperienceContent)
        case blocked([Block])
        /// Created by others, and never changed.
        case unmanaged(ids: [String])
        case inStep

        /// Whether applying the plan does anything here.
        public var isChange: Bool {
            switch self {
            case .create, .update, .remove, .adopt: true
            case .blocked, .unmanaged, .inStep: false
            }
        }
    }

    /// Information for operators; it stops nothing.
    public enum Finding: Sendable, Hashable {
        /// Other experiences have the same canonical URL.
        case duplicate(ids: [String])
        /// The experience was created, but Apple's listing does not contain it yet.
        case unlisted(id: String)
        /// Maps has no such place. [Apple]
        case placeNotMatched
        /// Apple is still looking for the place. [Apple]
        case placePending
        /// Maps reports other values for the sent place, by their paths; it is sent again only after a change.
        case placeRewritten(paths: [String])
        /// The app has the language, the card has not.
        case languageMissing(String)
        /// A member of an experience that Doorstep did not make has an unknown value.
        case unreadable(id: String, String)
    }

    /// The reason why a necessary change is not made.
    public enum Block: Sendable, Hashable {
        case obstacle(DesiredExperience.Obstacle)
        /// App Store Connect needs a field, named by its path.
        case missing(path: String)
        case deactivated
        case appTransfer
        /// A member has an unknown value, which a change would overwrite.
        case unreadable(id: String, String)
        /// There is an experience that Doorstep did not make, and adopting is not allowed.
        case notOwned(id: String)
        /// Several experiences are possible, and Doorstep does not guess.
        case ambiguous(ids: [String])
        /// A creation got no response; it is sent again only after lists show that it did not happen.
        case unsettledCreation
        case incompleteListing
        case unlisted(id: String)
        case nothingDesired
        case tooManyRemovals(count: Int)
        case massRemoval(count: Int)
        /// It vanished from the catalogue not long ago, and may have by mistake.
        case grace(since: Date)

        /// A name that stays the same across versions.
        public var code: String {
            switch self {
            case .obstacle(let obstacle): obstacle.rawValue
            case .missing: "field_missing"
            case .deactivated: "deactivated"
            case .appTransfer: "app_transfer"
            case .unreadable: "unreadable"
            case .notOwned: "not_owned"
            case .ambiguous: "ambiguous"
            case .unsettledCreation: "unsettled_creation"
            case .incompleteListing: "incomplete_listing"
            case .unlisted: "unlisted"
            case .nothingDesired: "nothing_desired"
            case .tooManyRemovals: "too_many_removals"
            case .massRemoval: "mass_removal"
            case .grace: "grace"
            }
        }
    }

    /// Whether there is nothing to apply.
    public var isEmpty: Bool { !rows.contains { $0.step.isChange } }

    /// The order of the arguments does not matter. Takes linear time, except for sorting.
    /// - Throws: If the records contradict each other.
    public init(
        _ state: SyncState, policy: SyncPolicy
    ) throws(SyncError) {
        rows = try Planner(state, policy).rows()
    }

    init(rows: [Row]) {
        self.rows = rows
    }
}
