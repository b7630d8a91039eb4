public import Foundation
public import Invocation
public import Lookups
public import Tenancy

extension LookupIndex.Site {
    /// The URLs of the site's links; nil if some links are groups of URLs.
    public var urls: [String]? {
        let urls = links?.compactMap { link -> String? in
            if case .url(let url) = link.group { url.canonical } else { nil }
        }
        return urls?.count == links?.count ? urls : nil
    }

    /// The path prefixes of links that are groups of URLs.
    public var prefixes: [String] {
        (links ?? []).compactMap { link in
            if case .paths(let prefix) = link.group { prefix } else { nil }
        }.sorted()
    }
}

extension LookupIndex {
    /// The tenant in tests of one tenant.
    public static let tenant = TenantID(number: 1)

    /// An index of one tenant with these experiences. Of several with one kind and URL, the last one counts.
    public init(_ experiences: some Sequence<Experience>) throws {
        self.init()
        try register(experiences, of: Self.tenant)
    }

    /// Adds a tenant with these experiences.
    public mutating func register(_ experiences: some Sequence<Experience>, of tenant: TenantID) throws {
        try set(.tenants, .tenant(tenant))
        for experience in experiences { try set(.experiences, .experience(tenant, experience)) }
    }

    /// The experience that matches a URL of the one tenant.
    public func mostSpecific(
        for url: InvocationURL, preferringAdvanced prefersAdvanced: Bool = false
    ) -> IndexedExperience? {
        of(Self.tenant).match(url, preferringAdvanced: prefersAdvanced)?.experience
    }

    public func mostSpecific(for url: String) throws -> IndexedExperience? {
        try mostSpecific(for: InvocationURL(url))
    }

    /// Takes an array, because a span cannot be part of an `#expect`.
    public func keyHolder(of digest: [UInt8], at now: Date) -> KeyHolder? {
        keyHolder(digest: digest.span, at: now)
    }
}
