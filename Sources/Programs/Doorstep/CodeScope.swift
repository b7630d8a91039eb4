import Invocation
import Lookups
import Tenancy

/// The experiences that a list of codes is restricted to.
struct CodeScope: Sendable {
    private let experience: URLPrefix?
    private let clip: BundleID?

    /// - Parameter kind: Nil for experiences of any kind.
    /// - Throws: `CommandError.invalidOption` if the tenant does not have the clip or the experience.
    init(
        experience: URLPrefix?, clip: BundleID?, kind: ExperienceKind? = nil, in table: TenantTable
    ) throws(CommandError) {
        self.experience = experience
        self.clip = clip
        if let clip, !table.hasClip(clip) {
            throw .invalidOption("--clip", "the tenant has no clip \(clip.text)")
        }
        if let experience, Self.candidates(kind, clip, in: table).allSatisfy({ $0 != experience.canonical }) {
            let noun = kind.map { "\($0.rawValue) experience" } ?? "experience"
            let owner = clip.map { "the clip \($0.text)" } ?? "the tenant"
            throw .invalidOption("--experience", "\(owner) has no \(noun) \(experience.canonical)")
        }
    }

    /// The advanced experience whose codes App Store Connect makes: the named one, or the only one.
    ///
    /// Source: Apple, App Store Connect Help, "Generate App Clip Codes": each URL must match the selected experience.
    /// - Throws: `CommandError.invalidOption` if none is named and there are several.
    static func forAppStoreConnect(
        experience: URLPrefix?, clip: BundleID?, in table: TenantTable
    ) throws -> CodeScope {
        let named = try CodeScope(experience: experience, clip: clip, kind: .advanced, in: table)
        guard experience == nil else { return named }
        let candidates = candidates(.advanced, clip, in: table).sorted()
        guard let first = candidates.first else { throw CommandError.nothingToExport }
        guard candidates.count == 1 else {
            let shown = candidates.prefix(5).joined(separator: ", ")
            throw CommandError.invalidOption(
                "--experience",
                "App Store Connect makes the codes of one advanced experience; name one of \(candidates.count): "
                    + shown + (candidates.count > 5 ? ", …" : ""))
        }
        return try CodeScope(experience: URLPrefix(first), clip: clip, kind: .advanced, in: table)
    }

    func contains(_ experience: Experience) -> Bool {
        self.experience.map { $0 == experience.url } != false && clip.map { $0 == experience.clip } != false
    }

    /// The reason why a URL is not in the scope: its most specific experience is another one. Nil if the URL is in the scope or
    /// matches no experience.
    func refusal(of url: InvocationURL, in table: TenantTable) -> String? {
        guard experience != nil || clip != nil, let match = table.match(url)?.experience else { return nil }
        if let experience, match.url != experience.canonical {
            return
                "the URL matches the \(match.kind.rawValue) experience \(match.url), not \(experience.canonical)"
        }
        if let clip, match.clip != clip {
            return "the URL matches \(match.url) of the clip \(match.clip.text), not of \(clip.text)"
        }
        return nil
    }

    private static func candidates(
        _ kind: ExperienceKind?, _ clip: BundleID?, in table: TenantTable
    ) -> [String] {
        table.experiences { _ in true }
            .filter { (kind == nil || $0.kind == kind) && (clip == nil || $0.clip == clip) }
            .map(\.url)
    }
}
