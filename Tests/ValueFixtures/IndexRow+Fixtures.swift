public import Foundation
public import Invocation
public import Lookups
public import Tenancy

extension IndexRow {
    public static func tenant(
        _ id: TenantID, isSuspended: Bool = false, limits: RequestLimits = RequestLimits(),
        name: String = "A tenant", corsOrigins: String = ""
    ) -> IndexRow {
        func field(_ value: Int32?) -> [UInt8]? { value.map { [UInt8](bigEndian: UInt64($0)) } }
        return IndexRow(of: TenantColumn.self) { column in
            switch column {
            case .tenantId: id.uuid.bytes
            case .suspendedAt: [isSuspended ? 1 : 0]
            case .keyRate: field(limits.key?.perSecond)
            case .keyBurst: field(limits.key?.burst)
            case .clientRate: field(limits.client?.perSecond)
            case .clientBurst: field(limits.client?.burst)
            case .newInstanceRate: field(limits.newInstances?.perSecond)
            case .newInstanceBurst: field(limits.newInstances?.burst)
            case .clientNewInstanceRate: field(limits.clientNewInstances?.perSecond)
            case .clientNewInstanceBurst: field(limits.clientNewInstances?.burst)
            case .name: Array(name.utf8)
            case .corsOrigins: Array(corsOrigins.utf8)
            }
        }
    }

    /// The parent is the bundle ID without its last component.
    public static func clip(
        _ tenant: TenantID, _ bundleID: String, isMultiBusiness: Bool, teamID: String = "ABCDE12345",
        appIDPrefix: String? = nil, attestation: String? = nil, appStoreID: String? = nil,
        androidURL: String? = nil, siteName: String? = nil, card: String? = nil, cardImage: String? = nil
    ) -> IndexRow {
        let parent = bundleID.split(separator: ".").dropLast().joined(separator: ".")
        return IndexRow(of: ClipColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .bundleId: Array(bundleID.utf8)
            case .multiBusiness: [isMultiBusiness ? 1 : 0]
            case .teamId: Array(teamID.utf8)
            case .parentBundleId: Array(parent.utf8)
            case .appIdPrefix: appIDPrefix.map { Array($0.utf8) }
            case .attestation: attestation.map { Array($0.utf8) }
            case .appStoreId: appStoreID.map { Array($0.utf8) }
            case .androidUrl: androidURL.map { Array($0.utf8) }
            case .siteName: siteName.map { Array($0.utf8) }
            case .card: card.map { Array($0.utf8) }
            case .cardImage: cardImage.map { Array($0.utf8) }
            }
        }
    }

    public static func domain(
        _ tenant: TenantID, _ host: String, content: String? = nil, pages: DomainPages = .off
    ) -> IndexRow {
        IndexRow(of: DomainColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .host: Array(host.utf8)
            case .content: content.map { Array($0.utf8) }
            case .pages: Array(pages.rawValue.utf8)
            }
        }
    }

    /// - Parameters:
    /// - expiresAt: Microseconds since 2000-01-01 00:00 UTC.
    /// - scopes: Names separated by commas; nil for the default scopes of this kind of key.
    /// - locations: Identifiers separated by line feeds; nil for an unrestricted key.
    public static func key(
        _ tenant: TenantID, _ key: KeyID, _ digest: [UInt8], kind: KeyKind = .secret, expiresAt: Int64? = nil,
        scopes: String? = nil, locations: String? = nil
    ) -> IndexRow {
        IndexRow(of: KeyColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .keyId: key.uuid.bytes
            case .kind: Array(kind.rawValue.utf8)
            case .digest: digest
            case .expiresAt: expiresAt.map { [UInt8](bigEndian: UInt64(bitPattern: $0)) }
            case .scopes:
                Array((scopes ?? kind.usualScopes.list.map(\.rawValue).joined(separator: ",")).utf8)
            case .locations: locations.map { Array($0.utf8) }
            }
        }
    }

    public static func location(
        _ tenant: TenantID, _ identifier: String, name: String = "A place", latitude: Double = 52,
        longitude: Double = 13, radius: Double = 100, details: String? = nil, card: String? = nil,
        cardImage: String? = nil
    ) -> IndexRow {
        IndexRow(of: LocationColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .identifier: Array(identifier.utf8)
            case .name: Array(name.utf8)
            case .latitude: [UInt8](bigEndian: latitude.bitPattern)
            case .longitude: [UInt8](bigEndian: longitude.bitPattern)
            case .radius: [UInt8](bigEndian: radius.bitPattern)
            case .details: details.map { Array($0.utf8) }
            case .card: card.map { Array($0.utf8) }
            case .cardImage: cardImage.map { Array($0.utf8) }
            }
        }
    }

    /// Accepts any texts, including texts that registration would refuse.
    public static func experience(
        _ tenant: TenantID, _ kind: String, _ url: String, clip: String = "com.example.MyApp.Clip",
        location: String? = nil, rule: String? = nil, title: String? = nil, subtitle: String? = nil,
        card: String? = nil, cardImage: String? = nil
    ) -> IndexRow {
        IndexRow(of: ExperienceColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .kind: Array(kind.utf8)
            case .url: Array(url.utf8)
            case .bundleId: Array(clip.utf8)
            case .locationIdentifier: location.map { Array($0.utf8) }
            case .identifierRule: rule.map { Array($0.utf8) }
            case .title: title.map { Array($0.utf8) }
            case .subtitle: subtitle.map { Array($0.utf8) }
            case .card: card.map { Array($0.utf8) }
            case .cardImage: cardImage.map { Array($0.utf8) }
            }
        }
    }

    public static func experience(_ tenant: TenantID, _ experience: Experience) -> IndexRow {
        var location: String?
        var rule: String?
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): location = identifier.text
        case .rule(let read): rule = read.description
        }
        return .experience(
            tenant, experience.kind.rawValue, experience.url.canonical, clip: experience.clip.text,
            location: location, rule: rule)
    }

    public static func revokedAttestKey(_ tenant: TenantID, _ key: [UInt8]) -> IndexRow {
        IndexRow(of: RevokedAttestKeyColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .keyId: key
            }
        }
    }

    public static func shortCode(_ tenant: TenantID, _ code: String, _ url: String) -> IndexRow {
        IndexRow(of: ShortCodeColumn.self) { column in
            switch column {
            case .tenantId: tenant.uuid.bytes
            case .code: Array(code.utf8)
            case .url: Array(url.utf8)
            }
        }
    }
}

extension TenantID {
    /// A tenant of the tests.
    public init(number: UInt8) {
        self.init(UUID(number: number))
    }
}

extension UUID {
    public init(number: UInt8) {
        self.init(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
    }

    public var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

extension [UInt8] {
    public init(bigEndian value: UInt64) {
        self = Swift.withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
