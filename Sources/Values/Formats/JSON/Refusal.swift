/// A refusal as programs receive it: a code, a sentence, and further members.
public protocol Refusal: Error, CustomStringConvertible {
    /// A name that stays the same across versions.
    var code: String { get }
    /// The members besides code and sentence, such as the refused `field`.
    var members: JSONObject { get }
}

extension Refusal {
    public var members: JSONObject { [:] }
}

extension JSONFieldError: Refusal {
    public var members: JSONObject { ["field": .string(path)] }
}
