/// The kind of rows that a quota counts. The raw value is its name in the API, in the database and in
/// commands.
public enum QuotaKind: String, Sendable, CaseIterable {
    case auditLog = "audit_log"
    case channels, clips, deliveries, domains, experiences, images, instances, keys, locations
    case shortCodes = "short_codes"
    /// All kinds of the catalogue together: without the audit log, deliveries and instances.
    case total
}

/// A tenant's limits for a kind: the number of rows and the number of bytes.
///
/// The bytes of a row are the UTF-8 bytes of its texts, with JSON as PostgreSQL writes it; those of an
/// image are its file's. Instances and deliveries count as rows only. [ours]
public struct Quota: Sendable, Hashable, CustomStringConvertible {
    /// The limit in rows. Nil means the default; in a default, no limit.
    public var rows: Int?
    public var bytes: Int?

    /// No limit, for a tenant whose default has one.
    public static let off = 1_000_000_000_000_000

    public init(rows: Int? = nil, bytes: Int? = nil) {
        self.rows = rows
        self.bytes = bytes
    }

    /// Reads `ROWS`, `ROWS:BYTES` or `:BYTES`. Each is a number or `off`; bytes may have a unit, such as
    /// `2GiB`.
    ///
    /// - Returns: Nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts != [""] && parts != ["", ""] else { return nil }
        if parts == ["off"] {
            self.init(rows: Self.off, bytes: Self.off)
            return
        }
        self.init()
        if !parts[0].isEmpty {
            guard let rows = Self.number(parts[0], units: []) else { return nil }
            self.rows = rows
        }
        if parts.count == 2, !parts[1].isEmpty {
            guard let bytes = Self.number(parts[1], units: Self.units) else { return nil }
            self.bytes = bytes
        }
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB"]

    private static func number(_ text: Substring, units: [String]) -> Int? {
        if text == "off" { return off }
        var (digits, factor) = (text, 1)
        for (index, unit) in units.enumerated() where text.hasSuffix(unit) {
            digits = text.dropLast(unit.count)
            factor = 1 << (10 * (index + 1))
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
            number <= off / factor
        else { return nil }
        return number * factor
    }

    /// The text that `init(_:)` reads; empty if both are nil.
    public var description: String {
        let rows = rows.map { $0 == Self.off ? "off" : "\($0)" } ?? ""
        guard let bytes else { return rows }
        guard bytes != Self.off else { return rows == "off" ? "off" : "\(rows):off" }
        let unit = Self.units.indices.last { bytes > 0 && bytes % (1 << (10 * ($0 + 1))) == 0 }
        return "\(rows):" + (unit.map { "\(bytes >> (10 * ($0 + 1)))\(Self.units[$0])" } ?? "\(bytes)")
    }

    /// Returns this quota, with the other one's values where this one has nil.
    public func merging(_ other: Quota) -> Quota {
        Quota(rows: rows ?? other.rows, bytes: bytes ?? other.bytes)
    }
}

/// A tenant's use of one quota, and its limit.
public struct QuotaUsage: Sendable, Hashable {
    public let rows: Int
    public let bytes: Int
    /// The tenant's own limits, else the defaults; nil if there is none.
    public let limit: Quota

    public init(rows: Int, bytes: Int, limit: Quota) {
        self.rows = rows
        self.bytes = bytes
        self.limit = limit
    }
}

/// The effect of a change on one of a tenant's quotas.
public struct QuotaForecast: Sendable, Hashable {
    public enum Unit: String, Sendable, CaseIterable { case rows, bytes }

    public let kind: QuotaKind
    public let unit: Unit
    public let limit: Int
    public let current: Int
    public let wouldBe: Int

    public init(kind: QuotaKind, unit: Unit, limit: Int, current: Int, wouldBe: Int) {
        self.kind = kind
        self.unit = unit
        self.limit = limit
        self.current = current
        self.wouldBe = wouldBe
    }

    /// A change that does not grow is allowed, so that a tenant above its quota can still delete.
    public var isExceeded: Bool { wouldBe > max(limit, current) }
}

/// A change would have exceeded one of the tenant's quotas; nothing was changed.
public struct QuotaExceeded: Error, Sendable, Hashable, CustomStringConvertible {
    public let forecast: QuotaForecast

    public init(_ forecast: QuotaForecast) {
        self.forecast = forecast
    }

    public static let code = "quota_exceeded"

    public var description: String {
        """
        the quota of \(forecast.kind.rawValue) is \(forecast.limit) \(forecast.unit.rawValue); the change would raise the \
        tenant's usage from \(forecast.current) to \(forecast.wouldBe): \(forecast.kind.remedy), or have an operator raise the \
        quota ('doorstep tenant limit --quota')
        """
    }
}

extension QuotaKind {
    /// How a tenant gets below its quota.
    fileprivate var remedy: String {
        switch self {
        case .auditLog: "wait until entries are older than 7 days and deleted"
        case .deliveries: "wait until old notifications are deleted"
        default: "delete rows"
        }
    }
}
