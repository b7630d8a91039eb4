import Cards
import Formats
import Foundation

/// A rule for experiences that the specification's schemas do not contain.
struct ExperienceRule: Sendable {
    let name: String
    /// The error for a request that breaks the rule.
    let error: ErrorObject
    let isKept: @Sendable (ExperienceDraft, SimulatedAccount, Date) -> Bool

    private init(
        _ name: String, _ error: ErrorObject,
        _ isKept: @escaping @Sendable (ExperienceDraft, SimulatedAccount, Date) -> Bool
    ) {
        self.name = name
        self.error = error
        self.isKept = isKept
    }

    static let all: [ExperienceRule] = [
        .init(
            "the clip exists",
            .relationship("INVALID", at: "/data/relationships/appClip", "There is no such App Clip")
        ) { draft, account, _ in
            account.clip(draft.clipID) != nil && (draft.old.map { $0.clipID == draft.clipID } ?? true)
        },
        .init(
            "the link is https",
            .attribute("INVALID", at: "/data/attributes/link", "The link must be an https URL with a host")
        ) { draft, _, _ in
            let url = URL(string: draft.link)
            return url?.scheme == "https" && url?.host?.isEmpty == false
        },
        .init(
            "the link's host is associated with the clip",
            .attribute(
                "INVALID", at: "/data/attributes/link", "The domain is not associated with the App Clip")
        ) { draft, account, _ in
            guard let domains = account.clip(draft.clipID)?.clip.domains else { return true }
            return draft.old != nil || domains.contains(URL(string: draft.link)?.host?.lowercased() ?? "")
        },
        .init(
            "the link is not registered yet",
            .attribute(
                "INVALID.DUPLICATE", at: "/data/attributes/link", "There is an experience of this link")
        ) { draft, account, _ in
            draft.old != nil || !account.isTaken(draft.link, exceptBy: nil)
        },
        .init(
            "the clip has room",
            .relationship(
                "INVALID", at: "/data/relationships/appClip",
                "The App Clip has as many experiences as it can have")
        ) { draft, account, _ in
            guard let maximum = account.knobs.maximumExperiences, draft.old == nil else { return true }
            return account.count(ofClip: draft.clipID) < maximum
        },
        .init(
            "new localizations have local ids",
            .entity(
                "INCLUDED.INVALID_ID", at: "/included",
                "The id of an included resource must be a local id with the format '${local-id}'")
        ) { draft, account, _ in
            !account.knobs.localIDsAreStrict
                || draft.localIDs.allSatisfy { $0.wholeMatch(of: /\$\{[^{}]+\}/) != nil }
        },
        .init(
            "linkage and included agree",
            .relationship(
                "INVALID", at: "/data/relationships/localizations",
                "Each localization is to be linked, and each link that is new included")
        ) { draft, _, _ in draft.danglingIDs.isEmpty },
        .init(
            "each localization has a language",
            .attribute(
                "REQUIRED", at: "/included/0/attributes/language", "You must provide a value for 'language'")
        ) { draft, _, _ in draft.languages.count == draft.texts.count },
        .init(
            "each language comes once",
            .attribute("INVALID.DUPLICATE", at: "/included/0/attributes/language", "A language comes twice")
        ) { draft, _, _ in Set(draft.languages).count == draft.languages.count },
        .init(
            "there is a text in the default language",
            .attribute(
                "INVALID", at: "/data/attributes/defaultLanguage",
                "No localization is in the default language")
        ) { draft, _, _ in
            draft.attributes["defaultLanguage"]?.stringValue.map(draft.languages.contains) ?? false
        },
        .init(
            "there is a text in the app's primary language",
            .relationship(
                "INVALID", at: "/data/relationships/localizations",
                "No localization is in the app's primary language")
        ) { draft, account, _ in
            guard let locale = account.clip(draft.clipID)?.app.primaryLocale,
                let language = try? CardLanguage(tag: locale)
            else { return true }
            return draft.languages.contains(language.rawValue)
        },
        .init(
            "titles are short",
            .attribute("INVALID.TOO_LONG", at: "/included/0/attributes/title", "The title is too long")
        ) { draft, account, _ in
            draft.isKept("title", CardText.maximumTitleLength, account.knobs)
        },
        .init(
            "subtitles are short",
            .attribute("INVALID.TOO_LONG", at: "/included/0/attributes/subtitle", "The subtitle is too long")
        ) { draft, account, _ in
            draft.isKept("subtitle", CardText.maximumSubtitleLength, account.knobs)
        },
        .init(
            "a Maps place is located",
            .attribute("INVALID", at: "/data/attributes/place", "Address or coordinates must be provided")
        ) { draft, _, _ in
            draft.place.map { $0["mainAddress"] != nil || $0["displayPoint"] != nil } ?? true
        },
        .init(
            "a point is on the Earth",
            .attribute(
                "INVALID", at: "/data/attributes/place/displayPoint", "The coordinates are out of range")
        ) { draft, _, _ in
            guard let point = draft.place?["displayPoint"]?.objectValue else { return true }
            let coordinates = point["coordinates"]?.objectValue
            guard let latitude = coordinates?["latitude"]?.numberValue?.double,
                let longitude = coordinates?["longitude"]?.numberValue?.double
            else { return false }
            return (-90...90).contains(latitude) && (-180...180).contains(longitude)
        },
        .init(
            "the image exists",
            .relationship("INVALID", at: "/data/relationships/headerImage", "There is no such image")
        ) { draft, account, _ in account.images[draft.imageID] != nil },
        .init(
            "the image is complete",
            .relationship(
                "INVALID", at: "/data/relationships/headerImage", "The image has not been processed")
        ) { draft, account, now in
            guard let image = account.images[draft.imageID], draft.old?.imageID != draft.imageID else {
                return true
            }
            return account.knobs.acceptsUnfinishedImages || image.state(account.knobs, at: now) == .complete
        },
        .init(
            "the image is nobody else's",
            .relationship(
                "INVALID", at: "/data/relationships/headerImage", "The image is of another experience")
        ) { draft, account, _ in
            account.knobs.sharesImages || !account.isUsed(draft.imageID, exceptBy: draft.old?.id)
        },
    ]
}

extension ExperienceDraft {
    fileprivate func isKept(_ attribute: String, _ limit: Int, _ knobs: Knobs) -> Bool {
        !knobs.limitsTexts
            || texts.allSatisfy {
                ($0.attributes[attribute]?.stringValue?.unicodeScalars.count ?? 0) <= limit
            }
    }
}
