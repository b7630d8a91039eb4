public import Tenancy

/// A URL registered for a clip, and the location that it leads to.
public struct Experience: Sendable, Hashable {
    public let url: URLPrefix
    public let kind: ExperienceKind
    public let clip: BundleID
    public let binding: LocationBinding

    /// Creates an experience. Apple generates the links of its host: another experience there would replace
    /// a clip's default experience, to which its default link leads [Apple]. The refusals are [ours].
    ///
    /// - Throws: `appleHost`, `defaultLinkNamesAnotherClip`.
    public init(
        url: URLPrefix, kind: ExperienceKind, clip: BundleID, binding: LocationBinding = .unbound
    ) throws(ExperienceError) {
        if url.host == DefaultLink.host, kind != .demo {
            guard kind == .default, let link = DefaultLink(url) else { throw .appleHost }
            guard link.clip == clip else { throw .defaultLinkNamesAnotherClip }
        }
        self.url = url
        self.kind = kind
        self.clip = clip
        self.binding = binding
    }

    /// Whether an invocation may launch this experience.
    ///
    /// An advanced or default experience matches by prefix. A demo link takes no URL parameters [Apple], so
    /// a demo experience matches only its own URL, ignoring the fragment. A default experience that is
    /// registered with its default link is matched only by default links of its clip: the bundle ID comes
    /// first [Apple].
    public func matches(_ invocation: InvocationURL) -> Bool {
        url.matches(invocation) && admits(invocation)
    }

    /// Whether an invocation that matches the URL also satisfies the kind's own condition.
    func admits(_ invocation: InvocationURL) -> Bool {
        switch kind {
        case .advanced: return true
        case .default: return DefaultLink(url) == nil || DefaultLink(invocation)?.clip == clip
        case .demo: return invocation.canonicalWithoutFragment == url.canonical
        }
    }

    /// Whether this experience takes precedence over another that matches the same invocation.
    ///
    /// More path components win, then more query items, then kind (advanced, default, demo), then the
    /// smaller URL, clip and location by bytes. [ours; Apple: "the most specific matching prefix"]
    public func precedes(_ other: Experience) -> Bool {
        if url.pathComponents.count != other.url.pathComponents.count {
            return url.pathComponents.count > other.url.pathComponents.count
        }
        if url.queryItems.count != other.url.queryItems.count {
            return url.queryItems.count > other.url.queryItems.count
        }
        if kind != other.kind { return kind.rank < other.kind.rank }
        if url != other.url { return url.canonical.utf8.lexicographicallyPrecedes(other.url.canonical.utf8) }
        if clip != other.clip { return clip.text.utf8.lexicographicallyPrecedes(other.clip.text.utf8) }
        return binding.sortingText.utf8.lexicographicallyPrecedes(other.binding.sortingText.utf8)
    }
}

extension LocationBinding {
    fileprivate var sortingText: String {
        switch self {
        case .unbound: ""
        case .location(let identifier): "location:\(identifier.text)"
        case .rule(let rule): "rule:\(rule)"
        }
    }
}
