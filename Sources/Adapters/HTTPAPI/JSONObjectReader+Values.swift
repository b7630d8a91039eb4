import Formats
import Invocation

extension JSONObjectReader {
    /// Reads a name for people to read.
    mutating func optionalDisplayName(_ key: String) throws(JSONFieldError) -> DisplayName? {
        guard let text = try optionalString(key) else { return nil }
        do {
            return try DisplayName(text)
        } catch {
            throw .invalid(path: path(of: key), reason: error.description)
        }
    }
}
