import Administration
import Invocation

/// The title and remedy of a kind of finding.
struct Problem: Sendable {
    let code: String
    let title: String
    /// The instruction, in one line.
    let remedy: String
    /// Whether the finding is about locations, so that the list of locations can filter by it.
    let isOfLocations: Bool

    static let all =
        CatalogueFinding.Code.allCases.map(Problem.init) + LintFinding.Code.allCases.map(Problem.init)
    static let ofLocations = all.filter(\.isOfLocations)

    static func title(of code: String) -> String { all.first { $0.code == code }?.title ?? code }

    private init(_ code: String, _ title: String, _ remedy: String, isOfLocations: Bool = false) {
        self.code = code
        self.title = title
        self.remedy = remedy
        self.isOfLocations = isOfLocations
    }

    private init(_ code: CatalogueFinding.Code) {
        self =
            switch code {
            case .unbound:
                Problem(
                    code.rawValue, "no location",
                    "Bind the experience to a location, or give it a rule that reads one from the URL.")
            case .notBusinessSpecific:
                Problem(
                    code.rawValue, "no notifications",
                    "Register an advanced experience that is bound to the location. Without it, notifications for everyone at the location are refused.",
                    isOfLocations: true)
            case .missingDefaultExperience:
                Problem(
                    code.rawValue, "no default experience",
                    "Register the clip's default experience: every clip has one at App Store Connect.")
            case .unpublished:
                Problem(
                    code.rawValue, "not published",
                    "Release a version of the app with the clip. Until then only testers can launch the clip."
                )
            case .unknownIdentifier:
                Problem(
                    code.rawValue, "unknown identifier",
                    "Register the location or short code in the experience's URL, or use another URL."
                )
            case .deadShortCode:
                Problem(
                    code.rawValue, "dead short code", "Assign the code a URL that leads to a location."
                )
            case .unreachableLocation:
                Problem(
                    code.rawValue, "no URL",
                    "Register a URL for the location, or a rule that reads its identifier.",
                    isOfLocations: true)
            case .nullIsland:
                Problem(
                    code.rawValue, "at 0, 0",
                    "Set the location's coordinates. They seem to be missing.",
                    isOfLocations: true)
            case .repeatedCoordinates:
                Problem(
                    code.rawValue, "same coordinates",
                    "Check for a duplicate location or a copied row.",
                    isOfLocations: true)
            case .misplacedCoordinates:
                Problem(
                    code.rawValue, "misplaced",
                    "Check the coordinates. Latitude and longitude may be exchanged, or one of them may have the wrong sign.",
                    isOfLocations: true)
            case .remoteLocation:
                Problem(
                    code.rawValue, "far from all others",
                    "Check the coordinates. No other location is within about 300 km.",
                    isOfLocations: true)
            case .smallRadius:
                Problem(
                    code.rawValue, "small radius",
                    "Set the radius to 10 m or more. A phone's position is often no more accurate than that.",
                    isOfLocations: true)
            case .noPreviewImage:
                Problem(
                    code.rawValue, "no preview image",
                    "Add an image to the card of the clip, the location or the experience. Messages shows none now."
                )
            case .shadowedByAPI:
                Problem(
                    code.rawValue, "shadowed by the API",
                    "Register a URL whose path the API does not use. At this path the API responds, not a landing page."
                )
            case .wholeSite:
                Problem(
                    code.rawValue, "whole site",
                    "Register the URLs below one path, such as /r/. Now the app opens every page of the host, except for the "
                        + "paths that the domain's association file excludes.")
            case .notRedirected:
                Problem(
                    code.rawValue, "not redirected",
                    "Register an experience for the long URL, at a proved domain. Now the short URL leads to no landing page."
                )
            }
    }

    private init(_ code: LintFinding.Code) {
        self =
            switch code {
            case .rawPrefixDivergence:
                Problem(
                    code.rawValue, "not a path prefix",
                    "Check whether the longer URL should be below the shorter one. Only whole path components match."
                )
            case .queryTie:
                Problem(code.rawValue, "tie", "Make one of the two URLs more specific.")
            case .shadowed:
                Problem(
                    code.rawValue, "never chosen", "Remove the experience, or make its URL more specific.")
            case .codeUnfit:
                Problem(
                    code.rawValue, "unfit for an App Clip Code",
                    "Choose another URL if you need an App Clip Code. QR codes and tags can use this URL.")
            case .codeTooLong:
                Problem(
                    code.rawValue, "too long for an App Clip Code",
                    "Choose a shorter URL if you need an App Clip Code. 'doorstep code fit' shows shorter ones."
                )
            case .demoLink:
                Problem(code.rawValue, "no demo link", "Use the demo link that App Store Connect shows.")
            }
    }
}
