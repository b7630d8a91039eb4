/// A strict reader of a JSON object's fields: it refuses wrong types and unread fields, with their path.
///
/// Read each field once, then call `finish()`. A field that is null is not absent; it has the wrong type.
public struct JSONObjectReader: Sendable {
    private let object: JSONObject
    private var readFields = IndexSet()
    private var unreadCount: Int
    /// The path is composed only when it is needed, which is in errors.
    private let parentPath: String
    private let key: String?

    public init(_ object: JSONObject, path: String = "") {
        self.object = object
        unreadCount = object.count
        parentPath = path
        key = nil
    }

    /// Reads the object in a field of another.
    public init(_ object: JSONObject, key: String, of parent: JSONObjectReader) {
        self.object = object
        unreadCount = object.count
        parentPath = parent.path
        self.key = key
    }

    /// Refuses a value that is no object.
    public init(_ value: JSONValue, path: String = "") throws(JSONFieldError) {
        guard case .object(let object) = value else {
            throw .wrongType(path: path, expected: "an object")
        }
        self.init(object, path: path)
    }

    /// The path of the object itself, empty for the outermost.
    public var path: String {
        key.map { JSONPath.member($0, of: parentPath) } ?? parentPath
    }

    /// The path of a field of this object.
    public func path(of key: String) -> String {
        JSONPath.member(key, of: path)
    }

    /// Refuses the first field that was not read.
    public func finish() throws(JSONFieldError) {
        guard unreadCount > 0 else { return }
        for index in object.indices where !readFields.contains(index) {
            throw .unknown(path: path(of: object[index].key))
        }
    }

    // MARK: Fields that may be absent

    public mutating func optionalValue(_ key: String) -> JSONValue? {
        guard unreadCount > 0, let index = object.index(of: key), readFields.insert(index) else { return nil }
        unreadCount -= 1
        return object.members[index].value
    }

    /// Reads a field of a merge patch (RFC 7396).
    /// - Parameter read: Reads the field if it is there and not null.
    /// - Returns: Nil if the field is absent. A nil value if the field is null.
    public mutating func optionalPatch<Value>(
        _ key: String, _ read: (inout JSONObjectReader) throws(JSONFieldError) -> Value?
    ) throws(JSONFieldError) -> Value?? {
        if object[key] == .null {
            return optionalValue(key).map { _ in nil }
        }
        return try read(&self).map { .some($0) }
    }

    public mutating func optionalString(_ key: String) throws(JSONFieldError) -> String? {
        try optional(key, "a string") { $0.stringValue }
    }

    public mutating func optionalBool(_ key: String) throws(JSONFieldError) -> Bool? {
        try optional(key, "true or false") { $0.boolValue }
    }

    public mutating func optionalDouble(_ key: String) throws(JSONFieldError) -> Double? {
        try optional(key, "a number") { $0.numberValue?.double }
    }

    /// Takes a whole number that fits in 64 bits.
    public mutating func optionalInteger(_ key: String) throws(JSONFieldError) -> Int? {
        try optional(key, "an integer") { $0.numberValue?.int }
    }

    public mutating func optionalArray(_ key: String) throws(JSONFieldError) -> [JSONValue]? {
        try optional(key, "an array") { $0.arrayValue }
    }

    /// The members of the object in the field, whatever they are.
    public mutating func optionalMembers(_ key: String) throws(JSONFieldError) -> JSONObject? {
        try optional(key, "an object") { $0.objectValue }
    }

    /// A reader of the object in the field, to be finished on its own.
    public mutating func optionalObject(_ key: String) throws(JSONFieldError) -> JSONObjectReader? {
        try optionalMembers(key).map { JSONObjectReader($0, key: key, of: self) }
    }

    /// Takes one of the values of an enumeration.
    @inlinable
    public mutating func optionalCase<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Value.Type
    ) throws(JSONFieldError) -> Value? {
        guard let text = try optionalString(key) else { return nil }
        guard let value = Value(rawValue: text) else {
            let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(path: path(of: key), reason: "must be one of \(names)")
        }
        return value
    }

    // MARK: Fields that must be there

    public mutating func requiredValue(_ key: String) throws(JSONFieldError) -> JSONValue {
        try present(optionalValue(key), key)
    }

    public mutating func requiredString(_ key: String) throws(JSONFieldError) -> String {
        try present(optionalString(key), key)
    }

    public mutating func requiredBool(_ key: String) throws(JSONFieldError) -> Bool {
        try present(optionalBool(key), key)
    }

    public mutating func requiredDouble(_ key: String) throws(JSONFieldError) -> Double {
        try present(optionalDouble(key), key)
    }

    /// Takes a whole number that fits in 64 bits.
    public mutating func requiredInteger(_ key: String) throws(JSONFieldError) -> Int {
        try present(optionalInteger(key), key)
    }

    public mutating func requiredArray(_ key: String) throws(JSONFieldError) -> [JSONValue] {
        try present(optionalArray(key), key)
    }

    /// The object in the field, unread.
    public mutating func requiredMembers(_ key: String) throws(JSONFieldError) -> JSONObject {
        try present(optionalMembers(key), key)
    }

    /// A reader of the object in the field, to be finished on its own.
    public mutating func requiredObject(_ key: String) throws(JSONFieldError) -> JSONObjectReader {
        try present(optionalObject(key), key)
    }

    /// Takes one of the values of an enumeration.
    @inlinable
    public mutating func requiredCase<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Value.Type
    ) throws(JSONFieldError) -> Value {
        guard let value = try optionalCase(key, of: type) else { throw .missing(path: path(of: key)) }
        return value
    }

    private mutating func optional<Value>(
        _ key: String, _ expected: String, as convert: (JSONValue) -> Value?
    ) throws(JSONFieldError) -> Value? {
        guard let value = optionalValue(key) else { return nil }
        guard let converted = convert(value) else {
            throw .wrongType(path: path(of: key), expected: expected)
        }
        return converted
    }

    private func present<Value>(_ value: Value?, _ key: String) throws(JSONFieldError) -> Value {
        guard let value else {
            throw .missing(path: path(of: key))
        }
        return value
    }
}

/// Small whole numbers, without an allocation for those up to 63.
private struct IndexSet: Sendable {
    private var low: UInt64 = 0
    private var high: Set<Int> = []

    func contains(_ index: Int) -> Bool {
        index < UInt64.bitWidth ? low & (1 << index) != 0 : high.contains(index)
    }

    /// Returns false if the index is already there.
    mutating func insert(_ index: Int) -> Bool {
        if index >= UInt64.bitWidth { return high.insert(index).inserted }
        defer { low |= 1 << index }
        return !contains(index)
    }
}
