/// The kind of an experience in App Store Connect.
///
/// Source: Apple, "Configuring App Clip experiences".
public enum ExperienceKind: String, Sendable, Hashable, CaseIterable {
    case advanced
    case `default`
    case demo

    /// The rank among equally specific experiences: advanced first. [ours]
    var rank: Int {
        switch self {
        case .advanced: 0
        case .default: 1
        case .demo: 2
        }
    }
}
