public import Formats
import Geodesy

extension Place {
    /// The JSON of Apple's API; nil members are omitted.
    public var json: JSONObject {
        var json: JSONObject = [:]
        json["placeId"] = id.map(JSONValue.string)
        json["names"] = names.map(JSONValue.init(texts:))
        json["mainAddress"] = address.map { .object($0.json) }
        json["displayPoint"] = point.map { point in
            [
                "coordinates": [
                    "latitude": JSONValue(finite: point.coordinate.latitude),
                    "longitude": JSONValue(finite: point.coordinate.longitude),
                ], "source": .string(point.source.rawValue),
            ]
        }
        json["mapAction"] = mapAction.map { .string($0.rawValue) }
        json["relationship"] = relationship.map { .string($0.rawValue) }
        json["phoneNumber"] = phone.map { phone in
            var json: JSONObject = ["number": .string(phone.number)]
            json["type"] = phone.type.map { .string($0.rawValue) }
            json["intent"] = phone.intent.map(JSONValue.string)
            return .object(json)
        }
        json["homePage"] = homePage.map(JSONValue.string)
        json["categories"] = categories.map(JSONValue.init(texts:))
        return json
    }

    /// Reads the output of ``json``. An empty address, point or phone number counts as nil: a merge patch
    /// leaves such objects where it removes all members (RFC 7396 §2).
    ///
    /// - Throws: For a member that is unknown, of another type, or invalid, with its path.
    public init(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        self.init()
        id = try fields.optionalString("placeId")
        names = try fields.texts("names")
        if let address = try fields.optionalObject("mainAddress").map(Address.init), address != Address() {
            self.address = address
        }
        if let point = try fields.optionalObject("displayPoint") { self.point = try DisplayPoint(point) }
        mapAction = try fields.optionalCase("mapAction", of: MapAction.self)
        relationship = try fields.optionalCase("relationship", of: Relationship.self)
        if let phone = try fields.optionalObject("phoneNumber") { self.phone = try PhoneNumber(phone) }
        homePage = try fields.optionalString("homePage")
        categories = try fields.texts("categories")
        try fields.finish()
        do throws(CardError) {
            try check()
        } catch {
            throw .invalid(path: fields.path, reason: "is not valid: \(error)")
        }
    }
}

extension Place.Address {
    var json: JSONObject {
        var parts: JSONObject = [:]
        parts["streetAddress"] = street.map(JSONValue.init(texts:))
        parts["floor"] = floor.map(JSONValue.string)
        parts["neighborhood"] = neighborhood.map(JSONValue.string)
        parts["locality"] = locality.map(JSONValue.string)
        parts["stateProvince"] = stateProvince.map(JSONValue.string)
        parts["postalCode"] = postalCode.map(JSONValue.string)
        parts["countryCode"] = countryCode.map(JSONValue.string)
        var json: JSONObject = [:]
        json["fullAddress"] = full.map(JSONValue.string)
        if !parts.isEmpty { json["structuredAddress"] = .object(parts) }
        return json
    }

    fileprivate init(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        self.init()
        full = try fields.optionalString("fullAddress")
        if var parts = try fields.optionalObject("structuredAddress") {
            street = try parts.texts("streetAddress")
            floor = try parts.optionalString("floor")
            neighborhood = try parts.optionalString("neighborhood")
            locality = try parts.optionalString("locality")
            stateProvince = try parts.optionalString("stateProvince")
            postalCode = try parts.optionalString("postalCode")
            countryCode = try parts.optionalString("countryCode")
            try parts.finish()
        }
        try fields.finish()
    }
}

extension Place.DisplayPoint {
    fileprivate init?(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        let source = try fields.optionalCase("source", of: Source.self)
        let coordinates = try fields.optionalMembers("coordinates")
        try fields.finish()
        if source == nil, coordinates?.isEmpty != false { return nil }
        guard let coordinates else { throw .missing(path: fields.path(of: "coordinates")) }
        var numbers = JSONObjectReader(coordinates, key: "coordinates", of: fields)
        let (latitude, longitude) = (
            try numbers.requiredDouble("latitude"), try numbers.requiredDouble("longitude")
        )
        try numbers.finish()
        do throws(GeodesyError) {
            self.init(
                try Coordinate(latitude: latitude, longitude: longitude), source: source ?? .calculated)
        } catch {
            throw .invalid(path: numbers.path, reason: "must be on the Earth")
        }
    }
}

extension Place.PhoneNumber {
    fileprivate init?(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        let type = try fields.optionalCase("type", of: PhoneType.self)
        let intent = try fields.optionalString("intent")
        let number = try fields.optionalString("number")
        try fields.finish()
        if number == nil, type == nil, intent == nil { return nil }
        guard let number else { throw .missing(path: fields.path(of: "number")) }
        self.init(number, type: type, intent: intent)
    }
}

extension JSONValue {
    init(texts: [String]) {
        self = .array(texts.map(JSONValue.string))
    }
}

extension JSONObjectReader {
    fileprivate mutating func texts(_ key: String) throws(JSONFieldError) -> [String]? {
        guard let values = try optionalArray(key) else { return nil }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            guard let text = value.stringValue else {
                throw .wrongType(path: JSONPath.element(index, of: path(of: key)), expected: "a string")
            }
            texts.append(text)
        }
        return texts
    }
}
