public import Formats
public import Tenancy

extension QuotaForecast {
    public var json: JSONObject {
        [
            "kind": .string(kind.rawValue), "unit": .string(unit.rawValue), "limit": JSONValue(limit),
            "current": JSONValue(current), "wouldBe": JSONValue(wouldBe),
        ]
    }

    public init(_ fields: inout JSONObjectReader) throws {
        self.init(
            kind: try fields.requiredCase("kind", of: QuotaKind.self),
            unit: try fields.requiredCase("unit", of: Unit.self), limit: try fields.requiredInteger("limit"),
            current: try fields.requiredInteger("current"), wouldBe: try fields.requiredInteger("wouldBe"))
    }
}

extension Quota {
    /// Contains only members with a value.
    public var json: JSONObject {
        var json: JSONObject = [:]
        json["rows"] = rows.map { JSONValue($0) }
        json["bytes"] = bytes.map { JSONValue($0) }
        return json
    }

    public init(_ fields: inout JSONObjectReader) throws {
        self.init(rows: try fields.optionalInteger("rows"), bytes: try fields.optionalInteger("bytes"))
    }
}

extension QuotaUsage {
    public var json: JSONObject {
        let amounts = [("rows", rows, limit.rows), ("bytes", bytes, limit.bytes)]
        return amounts.reduce(into: [:]) { json, amount in
            let limit = amount.2.flatMap { $0 < Quota.off ? JSONValue($0) : nil }
            json[amount.0] = .object(["used": JSONValue(amount.1), "limit": limit ?? .null])
        }
    }

    public init(_ fields: inout JSONObjectReader) throws {
        var (rows, bytes) = (try fields.requiredObject("rows"), try fields.requiredObject("bytes"))
        self.init(
            rows: try rows.requiredInteger("used"), bytes: try bytes.requiredInteger("used"),
            limit: Quota(
                rows: try rows.optionalLimit(), bytes: try bytes.optionalLimit()))
    }
}

extension [QuotaKind: Quota] {
    /// The quotas by kind, such as `{"locations": {"rows": 5000}}`.
    public var json: JSONObject {
        reduce(into: [:]) { $0[$1.key.rawValue] = .object($1.value.json) }
    }

    /// Reads the ``json``, without kinds of later versions.
    public init(_ fields: inout JSONObjectReader) throws {
        self = try fields.byKind { try Quota(&$0) }
    }
}

extension [QuotaKind: QuotaUsage] {
    public var json: JSONObject {
        reduce(into: [:]) { $0[$1.key.rawValue] = .object($1.value.json) }
    }

    public init(_ fields: inout JSONObjectReader) throws {
        self = try fields.byKind { try QuotaUsage(&$0) }
    }
}

extension JSONObjectReader {
    /// The limit; nil if it is null or missing.
    fileprivate mutating func optionalLimit() throws(JSONFieldError) -> Int? {
        guard let value = optionalValue("limit"), value != .null else { return nil }
        guard let limit = value.numberValue?.int else {
            throw .wrongType(path: path(of: "limit"), expected: "an integer")
        }
        return limit
    }

    fileprivate mutating func byKind<Value>(
        _ read: (inout JSONObjectReader) throws -> Value
    ) throws -> [QuotaKind: Value] {
        try QuotaKind.allCases.reduce(into: [:]) { values, kind in
            guard var fields = try optionalObject(kind.rawValue) else { return }
            values[kind] = try read(&fields)
        }
    }
}
