/// One `name=value` of a URL's query, in canonical percent-encoding.
public struct QueryItem: Sendable, Hashable, CustomStringConvertible {
    public let name: String

    /// The text after the first `=`; empty if there is none.
    public let value: String

    /// - Parameter text: The item between two `&` of a canonical URL.
    init(canonical text: ArraySlice<UInt8>) {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        self.name = String(decoding: name, as: UTF8.self)
        value = String(decoding: text[name.endIndex...].dropFirst(), as: UTF8.self)
    }

    /// The item as canonical text: `name=value`, or only `name` if the value is empty.
    public var text: String { value.isEmpty ? name : "\(name)=\(value)" }

    /// The name only: a value may be a coordinate or a signature.
    public var description: String { name }

    /// The name, percent-decoded; nil if its bytes are not UTF-8.
    public var decodedName: String? { PercentEncoding.decoded(name.utf8) }

    /// The value, percent-decoded (`+` is a plus); nil if its bytes are not UTF-8.
    public var decodedValue: String? { PercentEncoding.decoded(value.utf8) }
}
