import Formats

/// The kinds of value that APNs' keys have.
extension JSONObjectReader {
    /// Takes an array of strings.
    mutating func optionalStrings(_ key: String) throws(JSONFieldError) -> [String]? {
        guard let elements = try optionalArray(key) else { return nil }
        var strings: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw .wrongType(path: JSONPath.element(index, of: path(of: key)), expected: "a string")
            }
            strings.append(text)
        }
        return strings
    }

    /// Takes 1 and 0, as Apple's flags are numbers.
    mutating func optionalFlag(_ key: String) throws(JSONFieldError) -> Bool? {
        guard let value = optionalValue(key) else { return nil }
        switch value.numberValue?.int {
        case 0: return false
        case 1: return true
        default: throw .invalid(path: path(of: key), reason: "must be 0 or 1")
        }
    }
}
