/// Comma-separated values (RFC 4180).
enum CSVText {
    /// One record and its line break.
    static func line(_ fields: [String]) -> String {
        fields.map(quoted).joined(separator: ",") + "\r\n"
    }

    private static func quoted(_ field: String) -> String {
        let needsQuotes = field.utf8.contains { byte in
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
            default: false
            }
        }
        return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
    }
}
