import AppStoreSync
import Cards
import Invocation

/// Short ways to write states of a catalogue and of App Store Connect.
enum Registrations {
    static let image = try? ImageDigest(String(repeating: "ab", count: 32))

    static func content(
        _ title: String? = "Pizza", action: CardAction? = nil, subtitle: String? = nil,
        image: ImageDigest? = image
    ) throws -> ExperienceContent {
        ExperienceContent(
            Card(
                defaultLanguage: .english, action: action, image: image,
                texts: [.english: try CardText(title: title, subtitle: subtitle)]))
    }

    static func url(_ name: String) throws -> URLPrefix {
        try URLPrefix("https://example.com/\(name)")
    }

    static func desired(_ name: String, _ content: ExperienceContent) throws -> DesiredExperience {
        DesiredExperience(try url(name), content)
    }

    static func created(_ name: String, _ content: ExperienceContent, id: String) throws -> AppliedExperience
    {
        AppliedExperience(try url(name), content, .created(id: id))
    }

    static func remote(_ name: String, _ content: ExperienceContent, id: String) -> RemoteExperience {
        RemoteExperience(id: id, link: "https://EXAMPLE.com/\(name)/", content)
    }

    static func complete(_ rows: [RemoteExperience]) -> RemoteListing {
        RemoteListing(rows, total: rows.count)
    }

    static func plan(
        _ desired: [DesiredExperience] = [], _ applied: [AppliedExperience] = [],
        _ remote: [RemoteExperience] = [],
        removedIDs: Set<String> = [], total: Int? = nil,
        policy: SyncPolicy = SyncPolicy(primaryLanguage: .english)
    ) throws -> SyncPlan {
        let state = SyncState(
            desired: desired, applied: applied, removedIDs: removedIDs,
            listing: RemoteListing(remote, total: total ?? remote.count))
        return try SyncPlan(state, policy: policy)
    }
}

extension SyncPlan {
    func row(_ name: String) -> Row? {
        rows.first { $0.url == "https://example.com/\(name)" }
    }

    func step(_ name: String) -> Step? { row(name)?.step }
}
