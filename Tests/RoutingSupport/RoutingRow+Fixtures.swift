public import Foundation
public import Invocation
public import RateLimiting
public import Routing
public import Tenancy

extension RoutingRow {
    public static func tenant(
        _ id: TenantID, isSuspended: Bool = false, limits: RequestLimits = RequestLimits()
    ) -> RoutingRow {
        func field(_ value: Int32?) -> [UInt8]? { value.map { [UInt8](bigEndian: UInt64($0)) } }
        return RoutingRow(
            [id.uuid.bytes, [isSuspended ? 1 : 0]]
                + [limits.key, limits.client, limits.newInstances, limits.clientNewInstances].flatMap {
                    [field($0?.perSecond), field($0?.burst)]
                })
    }

    /// The parent is the bundle ID without its last component.
    public static func clip(
        _ tenant: TenantID, _ bundleID: String, isMultiBusiness: Bool, teamID: String = "ABCDE12345",
        appIDPrefix: String? = nil
    ) -> RoutingRow {
        let parent = bundleID.split(separator: ".").dropLast().joined(separator: ".")
        return RoutingRow([
            tenant.uuid.bytes, Array(bundleID.utf8), [isMultiBusiness ? 1 : 0], Array(teamID.utf8),
            Array(parent.utf8), Array((appIDPrefix ?? teamID).utf8),
        ])
    }

    public static func domain(_ tenant: TenantID, _ host: String, content: String? = nil) -> RoutingRow {
        RoutingRow([tenant.uuid.bytes, Array(host.utf8), content.map { Array($0.utf8) }])
    }

    /// - Parameter expiresAt: microseconds since 2000-01-01 00:00 UTC.
    public static func key(
        _ tenant: TenantID, _ key: KeyID, _ digest: [UInt8], kind: KeyKind = .secret, expiresAt: Int64? = nil,
        scopes: String? = nil
    ) -> RoutingRow {
        RoutingRow([
            tenant.uuid.bytes, key.uuid.bytes, Array(kind.rawValue.utf8), digest,
            expiresAt.map { [UInt8](bigEndian: UInt64(bitPattern: $0)) }, scopes.map { Array($0.utf8) },
        ])
    }

    public static func location(
        _ tenant: TenantID, _ identifier: String, name: String = "A place", latitude: Double = 52,
        longitude: Double = 13, radius: Double = 100
    ) -> RoutingRow {
        RoutingRow([
            tenant.uuid.bytes, Array(identifier.utf8), Array(name.utf8),
            [UInt8](bigEndian: latitude.bitPattern), [UInt8](bigEndian: longitude.bitPattern),
            [UInt8](bigEndian: radius.bitPattern),
        ])
    }

    /// Takes any texts, also those of no experience that could be registered.
    public static func experience(
        _ tenant: TenantID, _ kind: String, _ url: String, clip: String = "com.example.MyApp.Clip",
        location: String? = nil, rule: String? = nil
    ) -> RoutingRow {
        RoutingRow([
            tenant.uuid.bytes, Array(kind.utf8), Array(url.utf8), Array(clip.utf8),
            location.map { Array($0.utf8) }, rule.map { Array($0.utf8) },
        ])
    }

    public static func experience(_ tenant: TenantID, _ experience: Experience) -> RoutingRow {
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

    public static func shortCode(_ tenant: TenantID, _ code: String, _ url: String) -> RoutingRow {
        RoutingRow([tenant.uuid.bytes, Array(code.utf8), Array(url.utf8)])
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
