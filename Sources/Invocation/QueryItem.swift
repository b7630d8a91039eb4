/// One `name=value` of a URL's query, in canonical percent-encoding.
public struct QueryItem: Sendable, Hashable, CustomStringConvertible {
    public let name: String

    /// The text after the first `=`; empty when there is none.
    public let value: String

    /// - Parameter bytes: the item as written between two `&`, well-formed percent-encoding.
    init(_ bytes: some Collection<UInt8>) {
        let parts = bytes.split(
            separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        name = PercentEncoding.canonical(parts[0], allowing: \.isQueryCharacter)
        value = parts.count < 2 ? "" : PercentEncoding.canonical(parts[1], allowing: \.isQueryCharacter)
    }

    /// The item as canonical text: `name=value`, or `name` alone when the value is empty.
    public var text: String { value.isEmpty ? name : "\(name)=\(value)" }

    /// The name only: a value may be a coordinate or a signature.
    public var description: String { name }

    /// The name, percent-decoded; nil when its bytes are not UTF-8.
    public var decodedName: String? { PercentEncoding.decoded(name) }

    /// The value, percent-decoded (`+` is a plus); nil when its bytes are not UTF-8.
    public var decodedValue: String? { PercentEncoding.decoded(value) }
}
