/// A warning about registered experiences; never a refusal.
public struct LintFinding: Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Matching by raw text would resolve URLs beside this one, which are not registered, differently than matching by
        /// whole components.
        case rawPrefixDivergence = "raw_prefix_divergence"

        /// An invocation can match both, and only the text of their URLs decides.
        case queryTie = "query_tie"

        /// Every invocation that matches the experience also matches the other, which takes precedence.
        case shadowed

        /// The URL cannot be in an App Clip Code.
        case codeUnfit = "code_unfit"

        /// The URL is too long for an App Clip Code, by its estimated size.
        case codeTooLong = "code_too_long"

        /// The URL of a demo experience is no demo link: those are on Apple's host and have no parameters.
        case demoLink = "demo_link"
    }

    public let code: Code

    /// The experience with the problem.
    public let experience: Experience

    /// The experience that it conflicts with; nil for `codeUnfit`, `codeTooLong` and `demoLink`.
    public let other: Experience?

    public var description: String {
        let otherURL = other?.url.canonical ?? ""
        return switch code {
        case .rawPrefixDivergence:
            "\(experience.url) begins with the text of \(otherURL), but is not below it: only whole path components match, "
                + "so other URLs of this form lead to nothing"
        case .queryTie:
            "one invocation can match both \(experience.url) and \(otherURL), and neither is more specific"
        case .shadowed:
            "\(experience.url) (\(experience.kind.rawValue)) is never chosen by its URL: "
                + "\(otherURL) (\(other?.kind.rawValue ?? "")) matches the same URLs and has priority"
        case .codeUnfit:
            "\(experience.url) cannot be in an App Clip Code"
        case .codeTooLong:
            "\(experience.url) is too long for an App Clip Code"
        case .demoLink:
            "\(experience.url) is not a demo link, which is a URL of \(DefaultLink.host) without parameters"
        }
    }
}
