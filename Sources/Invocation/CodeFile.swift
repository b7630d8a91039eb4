/// What the files that list App Clip Codes have in common.
enum CodeFile {
    /// Source: Apple, "Preparing multiple App Clip Codes for production".
    static let maximumRows = 10_000

    /// In characters; the same page.
    static let maximumFileNameLength = 188

    /// Names are told apart without regard to case: most disks of those who print do so. [ours]
    static func check(_ rows: [(fileName: String, url: AppClipCodeURL)]) throws(CodeFileError) {
        guard rows.count <= maximumRows else { throw .tooManyRows(rows.count) }
        var names: Set<String> = []
        for (index, row) in rows.enumerated() {
            let number = index + 1
            let isForbidden = { (scalar: Unicode.Scalar) in
                scalar == "/" || scalar.properties.generalCategory == .control
            }
            guard !row.fileName.isEmpty, !row.fileName.unicodeScalars.contains(where: isForbidden) else {
                throw .invalidFileName(row: number)
            }
            guard row.fileName.unicodeScalars.count <= maximumFileNameLength else {
                throw .fileNameTooLong(row: number)
            }
            guard names.insert(row.fileName.lowercased()).inserted else {
                throw .duplicateFileName(row: number)
            }
            guard row.url.fit != .refused else { throw .unfitURL(row: number) }
        }
    }

    /// Comma-separated values, each line ended by CR LF (RFC 4180 §2).
    static func csv(_ rows: [[String]]) -> String {
        rows.map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }
        return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
}
