public import AppSiteAssociation
import JSON
public import Lookups
public import RateLimiting
public import Tenancy

/// A tenant as one portable file, for an import at another deployment: JSON Lines (one JSON object per line, UTF-8).
///
/// The first line names the format and its version. Each other line is a record: its kind under `type`, and the members that the
/// item has in lists. The tenant is first, then the kinds follow in the order of ``Kind``, and the last line contains the number of
/// records. Keys, proofs of domains, confirmations and the audit log are not exported: holders get new keys, domains are proved
/// again, and the history belongs to the old deployment.
public enum TenantArchive {
    static let format = "doorstep-tenant"
    public static let version = 2

    enum Kind: String, CaseIterable {
        case tenant
        case image
        case clip
        case domain
        case location
        case experience
        case shortCode = "short_code"
        case end

        var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
}

/// The tenant's record in an archive.
public struct ArchivedTenant: Sendable, Hashable {
    /// The tenant's ID. It is the audience of receipts, and the key for signed locations in printed URLs is derived from it. The
    /// importer decides whether to keep it.
    public let id: TenantID
    public let slug: TenantSlug
    public let name: DisplayName
    public let isSuspended: Bool
    public let limits: RequestLimits
    public let quotas: [QuotaKind: Quota]
    public let corsOrigins: [WebOrigin]
}

/// A domain's record in an archive: the claim, the additional content of its association file, and whether pages are shown.
public struct ArchivedDomain: Sendable, Hashable {
    public let name: DomainName
    public let content: AssociationContent?
    public let pages: DomainPages
}

/// An image's record in an archive: the file. All other properties follow from the file.
public struct ArchivedImage: Sendable, Hashable {
    public let file: [UInt8]
}

/// One line of an archive.
public enum ArchiveRecord: Sendable {
    case tenant(ArchivedTenant)
    case image(ArchivedImage)
    case clip(Clip)
    case domain(ArchivedDomain)
    case location(LocationRecord)
    case experience(ExperienceRecord)
    case shortCode(ShortCode)
    /// The number of records, without this one.
    case end(Int)

    var kind: TenantArchive.Kind {
        switch self {
        case .tenant: .tenant
        case .image: .image
        case .clip: .clip
        case .domain: .domain
        case .location: .location
        case .experience: .experience
        case .shortCode: .shortCode
        case .end: .end
        }
    }

    public var image: ArchivedImage? { if case .image(let image) = self { image } else { nil } }
    public var clip: Clip? { if case .clip(let clip) = self { clip } else { nil } }
    public var domain: ArchivedDomain? { if case .domain(let domain) = self { domain } else { nil } }
    public var location: LocationRecord? { if case .location(let location) = self { location } else { nil } }
    public var experience: ExperienceRecord? {
        if case .experience(let record) = self { record } else { nil }
    }
    public var shortCode: ShortCode? { if case .shortCode(let code) = self { code } else { nil } }
}
