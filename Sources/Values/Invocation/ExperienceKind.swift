/// How an experience is registered in App Store Connect.
///
/// Source: Apple, "Configuring App Clip experiences".
public enum ExperienceKind: String, Sendable, Hashable, CaseIterable {
    case advanced
    case `default`
    case demo

    /// The place in the order by which equally specific experiences are told apart: advanced first. [ours]
    var rank: Int {
        switch self {
        case .advanced: 0
        case .default: 1
        case .demo: 2
        }
    }
}
