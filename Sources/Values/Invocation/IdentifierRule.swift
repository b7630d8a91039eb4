/// The position of the location's identifier in an invocation URL.
///
/// Names are query items' names in canonical percent-encoding. [ours]
public enum IdentifierRule: Sendable, Hashable {
    /// The Nth path component after the experience's own, from 1.
    case path(Int)

    /// The value of the first query item of this name.
    case query(String)

    /// The value of the first query item of this name, a short code for a longer stored URL.
    ///
    /// Source: Apple, "Encoding a URL in an App Clip Code", "Hash long URLs".
    case hash(String)

    /// The values of these query items are the location itself.
    case coordinates(latitude: String, longitude: String, radius: String?)

    /// Reads `path:1`, `query:location`, `hash:c` or `coordinates:lat,lon,r`; the radius is optional.
    public init(_ text: String) throws(ExperienceError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .invalidIdentifierRule }
        let argument = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "path":
            guard let number = Int(argument), Self.pathNumbers.contains(number),
                String(number) == argument
            else { throw .invalidIdentifierRule }
            self = .path(number)
        case "query":
            self = .query(try Self.name(argument))
        case "hash":
            self = .hash(try Self.name(argument))
        case "coordinates":
            var names: [String] = []
            for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
                names.append(try Self.name(String(part)))
            }
            guard names.count == 2 || names.count == 3, Set(names).count == names.count,
                !names.contains(EncodedLocation.signatureName)
            else { throw .invalidIdentifierRule }
            self = .coordinates(
                latitude: names[0], longitude: names[1], radius: names.count == 3 ? names[2] : nil)
        default:
            throw .invalidIdentifierRule
        }
    }

    /// Reads the identifier from a URL that selected the experience registered with `prefix`.
    ///
    /// The value is percent-decoded; it is an identifier only if it has 1 to 128 characters. A path rule
    /// reads nothing if the URL is the default link, whose path is Apple's.
    public func read(_ invocation: InvocationURL, after prefix: URLPrefix) -> IdentifierReading {
        read(
            invocation,
            afterPathComponents: prefix.matches(invocation) ? prefix.pathComponents.count : nil)
    }

    /// Reads the identifier from a URL that selected an experience.
    ///
    /// The value is percent-decoded; it is an identifier only if it has 1 to 128 characters.
    ///
    /// - Parameter count: The number of path components of the experience's own URL. Nil if the URL is the
    ///   default link, whose path is Apple's: a path rule then reads nothing.
    public func read(_ invocation: InvocationURL, afterPathComponents count: Int?) -> IdentifierReading {
        switch self {
        case .path(let number):
            guard let count, Self.pathCounts.contains(count), Self.pathNumbers.contains(number) else {
                return .absent
            }
            return Self.identifier(invocation.decodedPathComponent(at: count + number - 1))
                .map { .identifier($0) } ?? .absent
        case .query(let name):
            return Self.identifier(invocation.firstValue(named: name)).map { .identifier($0) } ?? .absent
        case .hash(let name):
            return Self.identifier(invocation.firstValue(named: name)).map { .shortCode($0.text) } ?? .absent
        case .coordinates(let latitude, let longitude, let radius):
            let place = EncodedLocation(
                in: invocation, latitude: latitude, longitude: longitude, radius: radius)
            return place.map { .place($0) } ?? .absent
        }
    }

    /// No URL has more components than bytes.
    private static let pathCounts = 0...InvocationURL.maximumLength
    private static let pathNumbers = 1...InvocationURL.maximumLength

    private static func name(_ text: String) throws(ExperienceError) -> String {
        guard (1...LocationIdentifier.maximumLength).contains(text.unicodeScalars.count),
            PercentEncoding.isWellFormed(text.utf8.span), !text.utf8.span.hasControlCharacter,
            !text.unicodeScalars.contains(where: {
                $0 == "&" || $0 == "=" || $0 == "#" || $0 == " " || $0 == "\\"
            })
        else { throw .invalidIdentifierRule }
        var name: [UInt8] = []
        PercentEncoding.appendCanonical(text.utf8.span, allowing: .query, to: &name)
        return String(decoding: name, as: UTF8.self)
    }

    private static func identifier(_ value: String?) -> LocationIdentifier? {
        value.flatMap { try? LocationIdentifier($0) }
    }
}

extension IdentifierRule: CustomStringConvertible {
    /// The rule's text, with names in canonical form.
    public var description: String {
        switch self {
        case .path(let number): "path:\(number)"
        case .query(let name): "query:\(name)"
        case .hash(let name): "hash:\(name)"
        case .coordinates(let latitude, let longitude, let radius):
            "coordinates:" + [latitude, longitude, radius].compactMap(\.self).joined(separator: ",")
        }
    }
}
