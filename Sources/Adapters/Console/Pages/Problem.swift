import Administration
import Invocation

/// A kind of finding, as people are told of it.
struct Problem: Sendable {
    let code: String
    let title: String
    /// What to do, in one line.
    let remedy: String
    /// Whether it is about places, so that the list can be narrowed to those that have it.
    let isOfPlaces: Bool

    static let all =
        CatalogueFinding.Code.allCases.map(Problem.init) + LintFinding.Code.allCases.map(Problem.init)
    static let ofPlaces = all.filter(\.isOfPlaces)

    static func title(of code: String) -> String { all.first { $0.code == code }?.title ?? code }

    private init(_ code: String, _ title: String, _ remedy: String, isOfPlaces: Bool = false) {
        self.code = code
        self.title = title
        self.remedy = remedy
        self.isOfPlaces = isOfPlaces
    }

    private init(_ code: CatalogueFinding.Code) {
        self =
            switch code {
            case .unbound:
                Problem(
                    code.rawValue, "for no place",
                    "Bind the experience to a location, or give it a rule that reads one from the URL.")
            case .notBusinessSpecific:
                Problem(
                    code.rawValue, "no notifications",
                    "Register an advanced experience that is bound to the location; else notifications are refused."
                )
            case .missingDefaultExperience:
                Problem(
                    code.rawValue, "no default experience",
                    "Register the clip's default experience: every clip has one at App Store Connect.")
            case .unpublished:
                Problem(
                    code.rawValue, "not published",
                    "Release a version of the app with the clip: until then only testers can launch it.")
            case .unknownIdentifier:
                Problem(
                    code.rawValue, "unknown identifier",
                    "Register the location or the short code that the experience's own URL names, or another URL."
                )
            case .deadShortCode:
                Problem(
                    code.rawValue, "dead short code", "Let the code stand for a URL that leads to a location."
                )
            case .unreachableLocation:
                Problem(
                    code.rawValue, "no URL",
                    "Register a URL for the place, or a rule that reads its identifier.",
                    isOfPlaces: true)
            case .nullIsland:
                Problem(
                    code.rawValue, "at 0, 0",
                    "Give the place its coordinates: they seem to have been left out.",
                    isOfPlaces: true)
            case .repeatedCoordinates:
                Problem(
                    code.rawValue, "same spot",
                    "Look whether it is one place twice, or a row that was copied.",
                    isOfPlaces: true)
            case .smallRadius:
                Problem(
                    code.rawValue, "small radius",
                    "Make the radius 10 m or more: a phone's position is often no better than that.",
                    isOfPlaces: true)
            case .noPreviewImage:
                Problem(
                    code.rawValue, "no preview image",
                    "Give the card of the clip, the location or the experience an image: Messages shows none now."
                )
            case .shadowedByAPI:
                Problem(
                    code.rawValue, "shadowed by the API",
                    "Register a URL whose path is none of the API's: the API answers there, and no page.")
            case .wholeSite:
                Problem(
                    code.rawValue, "whole site",
                    "Register the URLs below one path, such as /r/: the app opens every page of the host now, but for the "
                        + "excludes of the domain's content.")
            case .notRedirected:
                Problem(
                    code.rawValue, "not redirected",
                    "Register an experience for the long URL, at a host that is proved: the short one leads to no page."
                )
            }
    }

    private init(_ code: LintFinding.Code) {
        self =
            switch code {
            case .rawPrefixDivergence:
                Problem(
                    code.rawValue, "text is no prefix",
                    "Look whether the longer URL was meant to be below the other: only whole components count."
                )
            case .queryTie:
                Problem(code.rawValue, "tie", "Make one of the two URLs more specific.")
            case .shadowed:
                Problem(
                    code.rawValue, "never chosen", "Remove the experience, or make its URL more specific.")
            case .codeUnfit:
                Problem(
                    code.rawValue, "not for a code",
                    "Choose another URL if an App Clip Code is to be made of it; QR codes and tags take it.")
            case .demoLink:
                Problem(code.rawValue, "no demo link", "Use the demo link that App Store Connect shows.")
            }
    }
}
