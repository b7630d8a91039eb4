/// A JSON value as RFC 8259 defines it.
///
/// Strings are compared by their UTF-8 bytes, not by Unicode canonical equivalence as Swift's `String` does,
/// and numbers by their literal text: two values are equal exactly when they are written alike.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// A number holding an integer.
    public init(_ value: Int) {
        self = .number(JSONNumber(value))
    }

    /// An object of integers by their names.
    public init(_ counts: [String: Int]) {
        self = .object(
            counts.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = JSONValue($1.value) })
    }

    /// Creates a number from a value that the caller knows to be finite, such as a validated coordinate.
    ///
    /// - Precondition: `value` is finite; JSON has no other numbers.
    public init(finite value: Double) {
        self = .number(JSONNumber(finite: value))
    }
}

extension JSONValue {
    /// The members, if this is an object.
    public var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The elements, if this is an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, if this is a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, if this is one.
    public var numberValue: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The truth value, if this is one.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension JSONValue {
    /// Whether the value is, or contains, a string that satisfies the condition; keys do not count.
    public func containsString(where isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): isWanted(text)
        case .array(let elements): elements.contains { $0.containsString(where: isWanted) }
        case .object(let object): object.members.contains { $0.value.containsString(where: isWanted) }
        }
    }
}

extension JSONValue: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let number): hasher.combine(number)
        // A string's own hash is coarser than its bytes, which a hash may be.
        case .string(let text): hasher.combine(text)
        case .array(let elements): hasher.combine(elements)
        case .object(let object): hasher.combine(object)
        }
    }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    public init(integerLiteral value: Int) {
        self.init(value)
    }

    public init(floatLiteral value: Double) {
        self.init(finite: value)
    }

    public init(stringLiteral value: String) {
        self = .string(value)
    }

    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object; of two members with one key, the later one remains.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(JSONObject(lastOfEach: members))
    }
}
