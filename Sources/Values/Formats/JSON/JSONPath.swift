/// Writes the path of a field for error messages: `aps.alert.title`, `rows[3].name`.
///
/// Keys come from clients, and paths are written to responses and logs. A key that is long, or contains
/// anything but letters, digits, `_` and `-`, is cut and written as a JSON string, so that it cannot break
/// out of its line.
public enum JSONPath {
    /// Characters of a key that are shown.
    private static let keyLimit = 64

    /// The path of a member of the object at `path`; the outermost object has the empty path.
    public static func member(_ key: String, of path: String) -> String {
        let isPlain =
            !key.isEmpty && key.utf8.count <= keyLimit
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        if isPlain {
            return path.isEmpty ? key : "\(path).\(key)"
        }
        return "\(path)[\(quoted(key))]"
    }

    /// The path of an element of the array at `path`.
    public static func element(_ index: Int, of path: String) -> String {
        "\(path)[\(index)]"
    }

    /// A key as a JSON string, cut when it is long.
    static func quoted(_ key: String) -> String {
        let scalars = key.unicodeScalars.prefix(keyLimit)
        let isCut = scalars.endIndex < key.unicodeScalars.endIndex
        let shown = JSONValue.string(String(scalars) + (isCut ? "…" : ""))
        return shown.text
    }
}
