/// Where in an invocation URL the identifier of the location stands.
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

    /// The values of these query items are the place itself.
    case coordinates(latitude: String, longitude: String, radius: String?)

    /// Reads `path:1`, `query:location`, `hash:c` or `coordinates:lat,lon,r`; the radius can be left out.
    public init(_ text: String) throws(ExperienceError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .invalidIdentifierRule }
        let argument = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "path":
            guard let number = Int(argument), (1...InvocationURL.maximumLength).contains(number),
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
                !names.contains(EncodedPlace.signatureName)
            else { throw .invalidIdentifierRule }
            self = .coordinates(
                latitude: names[0], longitude: names[1], radius: names.count == 3 ? names[2] : nil)
        default:
            throw .invalidIdentifierRule
        }
    }

    /// What the rule finds in a URL that the experience registered with `prefix` was chosen for.
    ///
    /// A value is percent-decoded; it is an identifier only when it is one of 1 to 128 characters. A path
    /// rule reads nothing when the experience was reached by its default link, whose path is Apple's.
    public func read(_ invocation: InvocationURL, after prefix: URLPrefix) -> IdentifierReading {
        switch self {
        case .path(let number):
            let index = prefix.pathComponents.count + number - 1
            guard prefix.matches(invocation), number >= 1, index < invocation.pathComponents.count,
                let identifier = Self.identifier(PercentEncoding.decoded(invocation.pathComponents[index]))
            else { return .absent }
            return .identifier(identifier)
        case .query(let name):
            return Self.identifier(invocation.firstValue(named: name)).map { .identifier($0) } ?? .absent
        case .hash(let name):
            return Self.identifier(invocation.firstValue(named: name)).map { .shortCode($0.text) } ?? .absent
        case .coordinates(let latitude, let longitude, let radius):
            let place = EncodedPlace(in: invocation, latitude: latitude, longitude: longitude, radius: radius)
            return place.map { .place($0) } ?? .absent
        }
    }

    private static func name(_ text: String) throws(ExperienceError) -> String {
        guard (1...LocationIdentifier.maximumLength).contains(text.unicodeScalars.count),
            PercentEncoding.isWellFormed(text.utf8),
            !text.unicodeScalars.contains(where: {
                $0 == "&" || $0 == "=" || $0 == "#" || $0 == " " || $0 == "\\"
                    || $0.properties.generalCategory == .control
            })
        else { throw .invalidIdentifierRule }
        return PercentEncoding.canonical(text.utf8, allowing: \.isQueryCharacter)
    }

    private static func identifier(_ value: String?) -> LocationIdentifier? {
        value.flatMap { try? LocationIdentifier($0) }
    }
}

extension IdentifierRule: CustomStringConvertible {
    /// The text that the rule is read from, names in canonical form.
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

extension InvocationURL {
    /// The percent-decoded value of the first query item of a name, which is in canonical form.
    func firstValue(named name: String) -> String? {
        queryItems.first { $0.name == name }.flatMap(\.decodedValue)
    }
}
