public import Foundation
public import Invocation
public import Lookups
public import Tenancy

extension LookupIndex.Site {
    /// The URLs that are listed one by one; nil where some are not.
    public var urls: [String]? {
        let urls = links?.compactMap { link -> String? in
            if case .url(let url) = link.group { url.canonical } else { nil }
        }
        return urls?.count == links?.count ? urls : nil
    }

    /// What stands for several URLs, as the beginning of their paths.
    public var prefixes: [String] {
        (links ?? []).compactMap { link in
            if case .paths(let prefix) = link.group { prefix } else { nil }
        }.sorted()
    }
}

extension LookupIndex {
    /// The tenant whose table the tests of one tenant make.
    public static let tenant = TenantID(number: 1)

    /// A table of one tenant that has these experiences; of two with one kind and URL the last.
    public init(_ experiences: some Sequence<Experience>) throws {
        self.init()
        try register(experiences, of: Self.tenant)
    }

    /// Takes a tenant in, with these experiences.
    public mutating func register(_ experiences: some Sequence<Experience>, of tenant: TenantID) throws {
        try set(.tenants, .tenant(tenant))
        for experience in experiences { try set(.experiences, .experience(tenant, experience)) }
    }

    /// What a match of the one tenant finds.
    public func mostSpecific(
        for url: InvocationURL, preferringAdvanced prefersAdvanced: Bool = false
    ) -> IndexedExperience? {
        of(Self.tenant).match(url, preferringAdvanced: prefersAdvanced)?.experience
    }

    public func mostSpecific(for url: String) throws -> IndexedExperience? {
        try mostSpecific(for: InvocationURL(url))
    }

    /// Lends the digest: a span cannot stand in an expectation.
    public func keyHolder(of digest: [UInt8], at now: Date) -> KeyHolder? {
        keyHolder(digest: digest.span, at: now)
    }
}
