import Foundation
public import Geodesy

/// The data by which Maps finds a place; nil inherits, and values that remain nil are not sent.
///
/// "Place data serves only to match an existing place": Apple uses these values to find the place and does
/// not change it. Source: App Store Connect API 4.4.1, `Place` of `AppClipAdvancedExperience` [Apple],
/// which sets no limits: the lengths here are [ours].
public struct Place: Sendable, Hashable {
    /// Characters (Unicode scalars) of a text. [ours]
    public static let maximumTextLength = 256
    /// Texts of a list. [ours]
    public static let maximumListLength = 16
    /// Bytes of a URL. [ours]
    public static let maximumURLLength = 2_048

    /// The place's ID in Maps.
    public var id: String?
    public var names: [String]?
    public var address: Address?
    public var point: DisplayPoint?
    public var mapAction: MapAction?
    public var relationship: Relationship?
    public var phone: PhoneNumber?
    public var homePage: String?
    public var categories: [String]?

    /// The relationship of the place to the app's owner. The API's own text describes something else; this
    /// follows Apple Business.
    public enum Relationship: String, Sendable, Hashable, CaseIterable {
        case owner = "OWNER"
        case authorized = "AUTHORIZED"
        case other = "OTHER"
    }

    public struct Address: Sendable, Hashable {
        public var full: String?
        public var street: [String]?
        public var floor: String?
        public var neighborhood: String?
        public var locality: String?
        public var stateProvince: String?
        public var postalCode: String?
        /// Two capital letters. [ours]
        public var countryCode: String?

        public init() {}
    }

    public struct DisplayPoint: Sendable, Hashable {
        public var coordinate: Coordinate
        public var source: Source

        public enum Source: String, Sendable, Hashable, CaseIterable {
            case calculated = "CALCULATED"
            case manuallyPlaced = "MANUALLY_PLACED"
        }

        public init(_ coordinate: Coordinate, source: Source = .calculated) {
            self.coordinate = coordinate
            self.source = source
        }
    }

    public struct PhoneNumber: Sendable, Hashable {
        public var number: String
        public var type: PhoneType?
        public var intent: String?

        public enum PhoneType: String, Sendable, Hashable, CaseIterable {
            case fax = "FAX"
            case landline = "LANDLINE"
            case mobile = "MOBILE"
            case tollFree = "TOLLFREE"
        }

        public init(_ number: String, type: PhoneType? = nil, intent: String? = nil) {
            self.number = number
            self.type = type
            self.intent = intent
        }
    }

    public init() {}

    /// Whether Apple accepts it: "Address or coordinates must be provided." [Apple]
    public var isLocated: Bool { point != nil || address != nil }

    /// Returns the place with the other's members where its own are nil: an address, a point and a phone
    /// number count as one member each.
    public func inheriting(_ other: Place) -> Place {
        var place = self
        place.id = id ?? other.id
        place.names = names ?? other.names
        place.address = address ?? other.address
        place.point = point ?? other.point
        place.mapAction = mapAction ?? other.mapAction
        place.relationship = relationship ?? other.relationship
        place.phone = phone ?? other.phone
        place.homePage = homePage ?? other.homePage
        place.categories = categories ?? other.categories
        return place
    }

    /// Refuses values that are too long, empty or malformed.
    func check() throws(CardError) {
        try Self.check(id, "placeId")
        try Self.check(names, "names")
        try Self.check(address?.full, "fullAddress")
        try Self.check(address?.street, "streetAddress")
        try Self.check(address?.floor, "floor")
        try Self.check(address?.neighborhood, "neighborhood")
        try Self.check(address?.locality, "locality")
        try Self.check(address?.stateProvince, "stateProvince")
        try Self.check(address?.postalCode, "postalCode")
        try Self.check(phone?.number, "number")
        try Self.check(phone?.intent, "intent")
        try Self.check(categories, "categories")
        if let code = address?.countryCode {
            let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
            guard code.utf8.count == 2, code.utf8.allSatisfy(capitals.contains) else {
                throw .invalidCountryCode
            }
        }
        if let homePage {
            let url = URL(string: homePage)
            guard homePage.utf8.count <= Self.maximumURLLength, homePage.utf8.allSatisfy({ $0 > 0x20 }),
                ["http", "https"].contains(url?.scheme?.lowercased()), url?.host?.isEmpty == false
            else { throw .invalidHomePage }
        }
    }

    private static func check(_ text: String?, _ member: String) throws(CardError) {
        guard text?.isText(ofAtMost: maximumTextLength) != false else {
            throw .invalidPlaceText(member: member)
        }
    }

    private static func check(_ texts: [String]?, _ member: String) throws(CardError) {
        guard let texts else { return }
        guard (1...maximumListLength).contains(texts.count) else { throw .invalidPlaceText(member: member) }
        for text in texts { try check(text, member) }
    }
}
