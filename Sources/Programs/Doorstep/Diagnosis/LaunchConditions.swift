import Invocation

/// The conditions for a launch with a URL.
///
/// Source: Apple, "Configuring App Clip experiences" and "Associating your App Clip with your website": the system verifies the
/// association before it permits an invocation of a website's URL.
struct LaunchConditions {
    let url: InvocationURL
    let kind: LaunchURL
    /// Nil if codes cannot contain the URL at all.
    let code: AppClipCodeURL?
    let association: AssociationEvidence
    /// The page's tag; nil if the page was not fetched.
    let banner: DiagnosisCheck?

    /// The conditions of one launch, the most decisive one first.
    func check(_ launch: LaunchMethod) -> DiagnosisCheck {
        let permission = kind.permits(launch)
        let leads: String
        switch permission {
        case .no: return no(launch, permission.rawValue, "cannot launch \(kind.text)")
        case .limitedPreview: leads = "can launch the URL, with a limited preview"
        case .notByPlace: leads = "can launch the clip by its name, but not by a Maps place"
        case .shortFormOnly:
            guard url.isShortDemoLink else {
                return no(launch, permission.rawValue, "only the short form of a demo link can be in a code")
            }
            leads = "can launch the URL, the short form of a demo link"
        case .yes, .withAssociation, .unknown: leads = "can launch the URL"
        }
        if launch == .appClipCode {
            switch code?.fit {
            case .refused: return no(launch, "code_unfit", "the URL cannot be in a code")
            case .tooLong: return no(launch, "code_too_long", "the URL is too long for a code")
            case .fits, .unknown, nil: break
            }
        }
        var doubts: [(reason: String, detail: String)] = []
        switch association {
        case .ok: break
        case .no(let reason, _):
            return no(launch, reason, "the site's association file must name the clip")
        case .unknown(let reason, _):
            doubts.append((reason, "if the site's association file names the clip"))
        }
        if launch == .website, let banner, banner.status != .ok {
            guard banner.status == .unknown || banner.reason == "incomplete" else {
                return no(launch, banner.reason ?? "", banner.detail)
            }
            doubts.append((banner.reason ?? "", "if the page has the clip's banner"))
        }
        if launch == .appClipCode, code?.fit != .fits {
            doubts.append(("code_size_unknown", "if the URL fits in a code"))
        }
        guard let first = doubts.first else { return .ok(.launch, launch.rawValue, leads) }
        return .unknown(
            .launch, first.reason, launch.rawValue,
            "\(leads) \(doubts.map(\.detail).joined(separator: ", and "))")
    }

    private func no(_ launch: LaunchMethod, _ reason: String, _ detail: String) -> DiagnosisCheck {
        .no(.launch, reason, launch.rawValue, detail)
    }
}

extension LaunchURL {
    /// The kind of URL, in words.
    fileprivate var text: String {
        switch self {
        case .defaultLink: "a default link"
        case .website: "a website's URL with a default experience"
        case .demoLink: "a demo link"
        case .advanced: "a URL with an advanced experience"
        }
    }
}
