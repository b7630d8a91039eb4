/// Why something is refused, as a program is told it: a code, a sentence, and what else it may need.
public protocol Refusal: Error, CustomStringConvertible {
    /// A name that stays the same across versions.
    var code: String { get }
    /// What is said beside code and sentence, such as the `field` that is refused.
    var members: JSONObject { get }
}

extension Refusal {
    public var members: JSONObject { [:] }
}

extension JSONFieldError: Refusal {
    public var members: JSONObject { ["field": .string(path)] }
}
