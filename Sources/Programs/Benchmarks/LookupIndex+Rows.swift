import Foundation
import Lookups
import Tenancy

/// Tables that are made here, of one tenant and one clip.
extension LookupIndex {
    static let tenant = TenantID(UUID())
    private static let clip = "com.example.MyApp.Clip"

    /// A table of the tenant and the clip.
    static func ofOneClip() throws -> LookupIndex {
        var table = LookupIndex()
        try table.set(
            .tenants,
            IndexRow(of: TenantColumn.self) { column in
                switch column {
                case .tenantId: tenant.bytes
                case .suspendedAt: [0]
                case .name: Array("Restaurants".utf8)
                case .corsOrigins: []
                default: nil
                }
            })
        try table.set(
            .clips,
            IndexRow(of: ClipColumn.self) { column in
                switch column {
                case .tenantId: tenant.bytes
                case .bundleId: Array(clip.utf8)
                case .multiBusiness: [1]
                case .teamId: Array("ABCDE12345".utf8)
                case .parentBundleId: Array("com.example.MyApp".utf8)
                case .appStoreId: Array("1234567890".utf8)
                case .appIdPrefix, .attestation, .androidUrl, .siteName, .card, .cardImage: nil
                }
            })
        return table
    }

    mutating func setLocation(
        _ identifier: String, name: String, latitude: Double, longitude: Double, isNew: Bool = true
    ) throws {
        func field(_ number: Double) -> [UInt8] {
            withUnsafeBytes(of: number.bitPattern.bigEndian) { Array($0) }
        }
        let row = IndexRow(of: LocationColumn.self) { column in
            switch column {
            case .tenantId: Self.tenant.bytes
            case .identifier: Array(identifier.utf8)
            case .name: Array(name.utf8)
            case .latitude: field(latitude)
            case .longitude: field(longitude)
            case .radius: field(100)
            default: nil
            }
        }
        try set(.locations, row, isNew: isNew)
    }

    /// A host that the tenant has proved.
    mutating func addDomain(_ host: String, pages: DomainPages) throws {
        try set(
            .domains,
            IndexRow(of: DomainColumn.self) { column in
                switch column {
                case .tenantId: Self.tenant.bytes
                case .host: Array(host.utf8)
                case .content: nil
                case .pages: Array(pages.rawValue.utf8)
                }
            })
    }

    /// An advanced experience that is bound to a location or has a rule.
    mutating func addExperience(
        _ url: String, location: String? = nil, rule: String? = nil, title: String? = nil,
        subtitle: String? = nil, cardImage: String? = nil
    ) throws {
        let row = IndexRow(of: ExperienceColumn.self) { column in
            switch column {
            case .tenantId: Self.tenant.bytes
            case .kind: Array("advanced".utf8)
            case .url: Array(url.utf8)
            case .bundleId: Array(Self.clip.utf8)
            case .locationIdentifier: location.map { Array($0.utf8) }
            case .identifierRule: rule.map { Array($0.utf8) }
            case .title: title.map { Array($0.utf8) }
            case .subtitle: subtitle.map { Array($0.utf8) }
            case .card: nil
            case .cardImage: cardImage.map { Array($0.utf8) }
            }
        }
        try set(.experiences, row, isNew: true)
    }
}

extension TenantID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }
}
