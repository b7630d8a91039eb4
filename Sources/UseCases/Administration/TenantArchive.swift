import Formats
public import Invocation
public import Lookups
public import Tenancy

/// A tenant as one portable file, for an import at another deployment: JSON Lines (one JSON object per line, UTF-8).
///
/// The first line names the format and its version. Each other line is a record: its kind under `type`, and the members that the
/// item has in lists. The tenant is first, then the kinds follow in the order of ``types``, and the last line contains the number of
/// records. Keys, proofs of domains, confirmations and the audit log are not exported: holders get new keys, domains are proved
/// again, and the history belongs to the old deployment.
public enum TenantArchive {
    static let format = "doorstep-tenant"
    public static let version = 2

    /// The kinds of items that are imported from files, in the order of an archive: items come after the items to which they refer.
    public static let collections: [any CollectionResource.Type] = [
        LocationRecord.self, ExperienceRecord.self, ShortCode.self,
    ]

    /// The types of records, in the order of an archive.
    public static let types =
        ["tenant", "image", "clip", "domain"] + collections.map { $0.typeName } + ["end"]
}

/// The tenant's record in an archive.
public struct ArchivedTenant: Sendable, Hashable {
    /// The tenant's ID. It is the audience of receipts, and the key for signed locations in printed URLs is derived from it. The
    /// importer decides whether to keep it.
    public let id: TenantID
    public let slug: TenantSlug
    public let name: DisplayName
    public let isTest: Bool
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
    /// An item of one of ``TenantArchive/collections``.
    case item(any CollectionResource)
    /// The number of records, without this one.
    case end(Int)

    var type: String {
        switch self {
        case .tenant: "tenant"
        case .image: "image"
        case .clip: "clip"
        case .domain: "domain"
        case .item(let item): Swift.type(of: item).typeName
        case .end: "end"
        }
    }

    /// The position of the type in an archive.
    var position: Int { TenantArchive.types.firstIndex(of: type) ?? 0 }

    public var image: ArchivedImage? { if case .image(let image) = self { image } else { nil } }
    public var clip: Clip? { if case .clip(let clip) = self { clip } else { nil } }
    public var domain: ArchivedDomain? { if case .domain(let domain) = self { domain } else { nil } }

    /// The item, if it is of this kind.
    public func item<Item: CollectionResource>(_: Item.Type) -> Item? {
        if case .item(let item) = self { item as? Item } else { nil }
    }
}
