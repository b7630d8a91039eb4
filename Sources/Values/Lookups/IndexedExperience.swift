public import Invocation
public import Tenancy

/// An experience as a lookup index stores it, with the relevant data of its clip.
public struct IndexedExperience: Sendable, Hashable {
    /// The registered URL, canonical.
    public let url: String
    public let kind: ExperienceKind
    public let clip: BundleID
    public let clipIsMultiBusiness: Bool
    public let binding: LocationBinding
    /// The number of path components of the registered URL.
    public let pathComponentCount: Int

    /// Whether a notification with a URL of this experience can go to everyone at its location. [Apple] requires an advanced experience
    /// for a clip of several businesses; that it is bound to the location is [ours].
    public var namesOneBusiness: Bool {
        guard clipIsMultiBusiness else { return true }
        guard kind == .advanced, case .location = binding else { return false }
        return true
    }

    /// Reads the identifier from an invocation URL with the experience's rule. The URL must have selected this experience.
    ///
    /// Returns `absent` if there is no rule. Also returns `absent` for a path rule if the URL is the clip's default link, because
    /// Apple chose its path.
    public func readIdentifier(
        in invocation: InvocationURL, by match: TenantTable.Match
    ) -> IdentifierReading {
        guard case .rule(let rule) = binding else { return .absent }
        return rule.read(invocation, afterPathComponents: match.isByDefaultLink ? nil : pathComponentCount)
    }
}
