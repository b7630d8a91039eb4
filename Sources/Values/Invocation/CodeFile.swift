/// The common parts of the files that list App Clip Codes.
enum CodeFile {
    /// In characters. Source: Apple, "Preparing multiple App Clip Codes for production".
    static let maximumFileNameLength = 188

    static func check(_ rows: [(fileName: String?, url: AppClipCodeURL)]) throws(CodeFileError) {
        if let problem = problems(rows).first { throw problem }
    }

    /// Returns the rows that a file cannot contain: the first reason of each row, in order.
    ///
    /// Names are compared without regard to case, because most file systems of print services do so. [ours]
    ///
    /// - Parameter rows: Rows without names if another file names the codes' files.
    static func problems(_ rows: [(fileName: String?, url: AppClipCodeURL)]) -> [CodeFileError] {
        var names: Set<String> = []
        return zip(rows, 1...).compactMap { row, number in
            if let name = row.fileName {
                if let problem = problem(ofFileName: name, row: number) { return problem }
                if !names.insert(name.lowercased()).inserted { return .duplicateFileName(row: number) }
            }
            return row.url.fit == .refused ? .unfitURL(row: number) : nil
        }
    }

    private static func problem(ofFileName name: String, row: Int) -> CodeFileError? {
        let isForbidden = { (scalar: Unicode.Scalar) in
            scalar == "/" || scalar.properties.generalCategory == .control
        }
        if name.isEmpty || name.unicodeScalars.contains(where: isForbidden) {
            return .invalidFileName(row: row)
        }
        return name.unicodeScalars.count > maximumFileNameLength ? .fileNameTooLong(row: row) : nil
    }

    /// Returns the name of an SVG file for a code's label: letters, digits, dots, hyphens and underscores
    /// of ASCII.
    ///
    /// Different texts have different names, so a name stays the same whatever else is registered: a slash
    /// becomes `_`, and characters unsuitable for file names are percent-encoded. [ours]
    static func name(for text: String) -> String {
        var name: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "/"):
                name.append(UInt8(ascii: "_"))
            case UInt8(ascii: "."), UInt8(ascii: "-"):
                name.append(byte)
            case _ where byte.isASCIILetter || byte.isASCIIDigit:
                name.append(byte)
            default:
                name += "%".utf8
                for digit in [byte >> 4, byte & 15] { name += String(digit, radix: 16, uppercase: true).utf8 }
            }
        }
        return String(decoding: name, as: UTF8.self) + ".svg"
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
