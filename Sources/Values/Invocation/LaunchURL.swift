/// A way in which people launch an App Clip, a row of Apple's table of launches.
///
/// Source: Apple, "Configuring App Clip experiences", "Choose the right link or experience".
public enum LaunchMethod: String, Sendable, Hashable, CaseIterable {
    /// A Smart App Banner, or the card, on a website.
    case website = "website"
    case messages
    case qrCodeOrNFCTag = "qr_code_or_nfc_tag"
    case appClipCode = "app_clip_code"
    case maps
    case spotlight
    /// A link that another app shows by Link Presentation.
    case linkPresentation = "link_presentation"
    /// A SwiftUI `Link`, or a URL that another app opens.
    case openedByApp = "opened_by_app"
}

/// The kind of a URL for iOS, a column of Apple's table of launches.
public enum LaunchURL: String, Sendable, Hashable, CaseIterable {
    /// The link that Apple generates for the default experience.
    case defaultLink = "default_link"
    /// A URL of your own website, with the default experience.
    case website
    case demoLink = "demo_link"
    /// A URL with an advanced experience.
    case advanced

    /// - Parameter invocation: A URL that launches an experience of the kind.
    public init(_ invocation: InvocationURL, kind: ExperienceKind) {
        self =
            switch kind {
            case .advanced: .advanced
            case .demo: .demoLink
            case .default: DefaultLink(invocation) == nil ? .website : .defaultLink
            }
    }

    /// Whether parameters of the URL reach the clip. [Apple]
    public var takesParameters: Bool { self != .demoLink }

    /// Whether a launch method can lead to a URL of this kind.
    ///
    /// An App Clip Code leads only to a URL that fits in a code; whether it does is estimated.
    public func permits(_ launch: LaunchMethod, to url: InvocationURL) -> LaunchPermission {
        let permission = permits(launch)
        guard launch == .appClipCode, permission != .no else { return permission }
        let fit = (try? AppClipCodeURL(url.canonical))?.fit ?? .refused
        return fit.isExcluded ? .no : fit == .fits ? .yes : .unknown
    }

    /// Whether a launch method can lead to this kind of URL. [Apple]
    public func permits(_ launch: LaunchMethod) -> LaunchPermission {
        switch (launch, self) {
        case (.website, .defaultLink), (.website, .demoLink): .no
        case (.website, .website): .yes
        case (.website, .advanced), (.messages, .advanced): .withAssociation
        case (.messages, .defaultLink), (.messages, .website): .yes
        case (.messages, .demoLink): .limitedPreview
        case (.qrCodeOrNFCTag, _), (.linkPresentation, _): .yes
        case (.appClipCode, .defaultLink), (.appClipCode, .website): .no
        case (.appClipCode, .demoLink): .shortFormOnly
        case (.appClipCode, .advanced): .yes
        case (.maps, .advanced), (.spotlight, .advanced): .yes
        case (.maps, _): .no
        case (.spotlight, _): .notByPlace
        case (.openedByApp, .advanced): .no
        case (.openedByApp, _): .yes
        }
    }
}

/// Whether a launch can lead to a URL, a cell of Apple's table of launches.
public enum LaunchPermission: String, Sendable, Hashable, CaseIterable {
    case yes
    case no
    /// It depends on whether the URL fits in a code; never in Apple's table itself.
    case unknown
    /// Only if the site's association file names the clip.
    case withAssociation = "with_association"
    /// It leads there, with a limited preview.
    case limitedPreview = "limited_preview"
    /// Only by the link's short form, as Apple issues it: ``InvocationURL/isShortDemoLink``.
    case shortFormOnly = "short_form_only"
    /// People find it by its name; the system does not suggest it at its place.
    case notByPlace = "not_by_place"
}
