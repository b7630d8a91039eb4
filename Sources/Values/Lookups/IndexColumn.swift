/// A column of an index relation; its raw value is the position of its field in a row.
///
/// A field is in the binary form of its PostgreSQL type. The first column is the tenant's ID.
/// The other columns of the primary key follow.
public protocol IndexColumn: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The number of columns of the primary key besides the tenant's ID.
    static var keyLength: Int { get }

    /// The SQL expression to read, if it is not the column itself.
    ///
    /// - Parameter column: The column's own name, qualified.
    func expression(of column: String) -> String
}

extension IndexColumn {
    public static var keyLength: Int { 1 }
    public func expression(of column: String) -> String { column }

    /// The name in the schema: the name of the case, with underscores between its words.
    public var columnName: String {
        "\(self)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }

    static var list: [any IndexColumn] { allCases.map { $0 } }

    /// The SQL expression that reads a card: all members except `place`, which no response shows.
    static func expression(ofCard column: String) -> String { "(\(column) - 'place')::text" }
}

public enum TenantColumn: Int, IndexColumn {
    case tenantId
    /// `boolean`: whether the tenant is suspended.
    case suspendedAt
    /// `bigint`, in pairs: both are null or neither is.
    case keyRate, keyBurst, clientRate, clientBurst
    case newInstanceRate, newInstanceBurst, clientNewInstanceRate, clientNewInstanceBurst
    case name
    /// Origins separated by spaces.
    case corsOrigins

    public static var keyLength: Int { 0 }

    public func expression(of column: String) -> String {
        switch self {
        case .tenantId, .name: column
        case .suspendedAt: "\(column) IS NOT NULL"
        case .corsOrigins: "array_to_string(\(column), ' ')"
        default: "\(column)::bigint"
        }
    }
}

public enum ClipColumn: Int, IndexColumn {
    case tenantId, bundleId
    /// `boolean`.
    case multiBusiness
    case teamId, parentBundleId
    /// Null if the prefix is the team's ID.
    case appIdPrefix
    /// The text of a JSON object, nullable.
    case attestation
    /// Nullable, as are the following columns.
    case appStoreId, androidUrl, siteName
    /// The text of a JSON object.
    case card
    /// A SHA-256 in hexadecimal digits.
    case cardImage

    public func expression(of column: String) -> String {
        switch self {
        case .attestation: "\(column)::text"
        case .card: Self.expression(ofCard: column)
        default: column
        }
    }
}

public enum KeyColumn: Int, IndexColumn {
    /// Both `uuid`. `tenantId` is `uuid` in the other relations, too.
    case tenantId, keyId
    case kind
    /// `bytea`: a SHA-256.
    case digest
    /// `timestamptz`, nullable.
    case expiresAt
    /// Names separated by commas.
    case scopes
    /// Identifiers separated by line feeds, which no identifier contains; nullable.
    case locations

    public func expression(of column: String) -> String {
        switch self {
        case .scopes: "array_to_string(\(column), ',')"
        case .locations: "array_to_string(\(column), chr(10))"
        default: column
        }
    }
}

public enum DomainColumn: Int, IndexColumn {
    case tenantId, host
    /// The text of a JSON object, nullable.
    case content
    /// A ``DomainPages``.
    case pages

    public func expression(of column: String) -> String { self == .content ? "\(column)::text" : column }
}

public enum LocationColumn: Int, IndexColumn {
    case tenantId, identifier, name
    /// `double precision`.
    case latitude, longitude, radius
    /// The text of a JSON object, nullable.
    case details
    /// The text of a JSON object, nullable.
    case card
    /// A SHA-256 in hexadecimal digits, nullable.
    case cardImage

    /// The columns of optional texts that responses show as members of a location, each under the case's own name.
    ///
    /// The texts contain no NUL. The lookup index, its file and responses follow from this list.
    static let texts: [LocationColumn] = []

    public func expression(of column: String) -> String {
        switch self {
        case .details: "\(column)::text"
        case .card: Self.expression(ofCard: column)
        default: column
        }
    }
}

public enum ExperienceColumn: Int, IndexColumn {
    case tenantId, kind, url, bundleId
    /// At least one of the two is null.
    case locationIdentifier, identifierRule
    /// In the card's default language; both nullable.
    case title, subtitle
    /// The text of a JSON object, nullable.
    case card
    /// A SHA-256 in hexadecimal digits, nullable.
    case cardImage

    public static var keyLength: Int { 2 }
    public func expression(of column: String) -> String {
        self == .card ? Self.expression(ofCard: column) : column
    }
}

public enum ShortCodeColumn: Int, IndexColumn {
    case tenantId, code, url
}

public enum RevokedAttestKeyColumn: Int, IndexColumn {
    case tenantId
    /// `bytea`: a SHA-256.
    case keyId
}
