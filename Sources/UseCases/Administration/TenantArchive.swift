public import AppSiteAssociation
import JSON
public import Lookups
public import RateLimiting
public import Tenancy

/// A tenant as one portable file, to be taken into another Doorstep: JSON Lines (one JSON object a line, UTF-8).
///
/// The first line names the format and its version; each other line is one record, whose `type` says what it is, beside
/// the members that it has in every list. The tenant comes first, the last line counts the records, and between them kinds
/// come in the order of ``Kind``. Keys do not travel, nor do the proofs of domains, confirmations and the audit log: a
/// key's holder gets a new one, a domain is proved again, and what happened in one installation is that installation's
/// record.
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

/// What an archive says of the tenant itself.
public struct ArchivedTenant: Sendable, Hashable {
    /// The signatures of places in printed URLs are made with a key derived from it, and it is the audience of receipts:
    /// whoever imports the archive says whether it is to be kept.
    public let id: TenantID
    public let slug: TenantSlug
    public let name: DisplayName
    public let isSuspended: Bool
    public let limits: RequestLimits
    public let quotas: [QuotaKind: Quota]
}

/// What an archive says of a domain: a claim, what is merged into its association file, and whether pages are shown there.
public struct ArchivedDomain: Sendable, Hashable {
    public let name: DomainName
    public let content: AssociationContent?
    public let pages: DomainPages
}

/// What an archive says of an image: its file, of which all else follows.
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
    /// How many records there are, this one apart.
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
