/// A tenant's identifier for one of its locations, such as `restaurant_a`.
///
/// 1 to 128 Unicode scalars, none of them a control character; two are equal only if their bytes are.
/// [ours]
public struct LocationIdentifier: Sendable, CustomStringConvertible {
    /// The maximum number of Unicode scalars, as PostgreSQL's `char_length` counts them.
    public static let maximumLength = 128

    public let text: String

    public init(_ text: String) throws(ExperienceError) {
        // There are never more scalars than bytes, whose number is known.
        guard !text.isEmpty,
            text.utf8.count <= Self.maximumLength || text.unicodeScalars.count <= Self.maximumLength,
            !text.utf8.span.hasControlCharacter
        else { throw .invalidLocationIdentifier }
        self.text = text
    }

    public var description: String { text }
}

/// By bytes: `String` treats the composed and the decomposed form of a character as equal.
extension LocationIdentifier: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}
