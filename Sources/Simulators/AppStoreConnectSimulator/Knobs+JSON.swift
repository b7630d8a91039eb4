public import Formats

extension Knobs {
    /// Changes the named knobs. The names are those of the properties.
    /// - Throws: For an unknown name, or a value of another type.
    public mutating func apply(_ json: JSONObject) throws(JSONFieldError) {
        var reader = JSONObjectReader(json)
        var changed = self
        for (name, path) in Self.flags {
            if let value = try reader.optionalBool(name) { changed[keyPath: path] = value }
        }
        for (name, path) in Self.seconds {
            guard let value = try reader.optionalDouble(name) else { continue }
            guard value >= 0 else { throw .invalid(path: name, reason: "must not be negative") }
            changed[keyPath: path] = value
        }
        for (name, path) in Self.counts {
            guard let value = try reader.optionalInteger(name) else { continue }
            guard value > 0 else { throw .invalid(path: name, reason: "must be positive") }
            changed[keyPath: path] = value
        }
        for (name, path) in Self.optionalCounts {
            guard let value = reader.optionalValue(name) else { continue }
            guard value == .null || value.numberValue?.int.map({ $0 >= 0 }) == true else {
                throw .wrongType(path: name, expected: "a count or null")
            }
            changed[keyPath: path] = value.numberValue?.int
        }
        for (name, path) in Self.names {
            guard let values = try reader.optionalArray(name) else { continue }
            changed[keyPath: path] = Set(values.compactMap(\.stringValue))
        }
        if let header = try reader.optionalCase("minuteHeader", of: MinuteHeader.self) {
            changed.minuteHeader = header
        }
        if let value = reader.optionalValue("versionState") {
            let state = value.stringValue.flatMap(VersionState.init(rawValue:))
            guard state != nil || value == .null else {
                throw .wrongType(path: "versionState", expected: "an appVersionState or null")
            }
            changed.versionState = state
        }
        try reader.finish()
        self = changed
    }

    /// The JSON of the knobs, in the form in which they are changed.
    public var json: JSONObject {
        var json: JSONObject = ["minuteHeader": .string(minuteHeader.rawValue)]
        json["versionState"] = versionState.map { .string($0.rawValue) } ?? .null
        for (name, path) in Self.flags { json[name] = .bool(self[keyPath: path]) }
        for (name, path) in Self.seconds { json[name] = JSONValue(finite: self[keyPath: path]) }
        for (name, path) in Self.counts { json[name] = JSONValue(self[keyPath: path]) }
        for (name, path) in Self.optionalCounts {
            json[name] = self[keyPath: path].map { JSONValue($0) } ?? .null
        }
        for (name, path) in Self.names {
            json[name] = .array(self[keyPath: path].sorted().map(JSONValue.string))
        }
        return json
    }

    private typealias Path<Value> = any WritableKeyPath<Knobs, Value> & Sendable

    private static let flags: [(String, Path<Bool>)] = [
        ("refusesDuplicateLinks", \.refusesDuplicateLinks), ("removedAreGone", \.removedAreGone),
        ("listsDeactivated", \.listsDeactivated), ("removedLinksAreFree", \.removedLinksAreFree),
        ("revives", \.revives), ("omittedLocalizationsGo", \.omittedLocalizationsGo),
        ("localIDsAreStrict", \.localIDsAreStrict), ("limitsTexts", \.limitsTexts),
        ("refusesChanges", \.refusesChanges), ("correctsPlaces", \.correctsPlaces),
        ("sharesImages", \.sharesImages), ("acceptsUnfinishedImages", \.acceptsUnfinishedImages),
        ("hidesUploadOperations", \.hidesUploadOperations), ("scattersRows", \.scattersRows),
        ("countsUploads", \.countsUploads), ("tellsRetryAfter", \.tellsRetryAfter),
        ("lacksAgreement", \.lacksAgreement),
    ]

    private static let seconds: [(String, Path<Double>)] = [
        ("placePending", \.placePending), ("reservation", \.reservation), ("processing", \.processing),
        ("checksumLag", \.checksumLag), ("listingLag", \.listingLag),
    ]

    private static let counts: [(String, Path<Int>)] = [
        ("partSize", \.partSize), ("hourlyLimit", \.hourlyLimit),
    ]

    private static let optionalCounts: [(String, Path<Int?>)] = [
        ("maximumExperiences", \.maximumExperiences), ("minuteLimit", \.minuteLimit),
    ]

    private static let names: [(String, Path<Set<String>>)] = [
        ("unmatchedNames", \.unmatchedNames), ("unreachableDomains", \.unreachableDomains),
        ("refusedParameters", \.refusedParameters),
    ]
}
