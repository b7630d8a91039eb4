/// The mapping file that goes to a printing service with the SVG files of the App Clip Codes.
///
/// At most 10,000 rows, file names of at most 188 characters.
/// Source: Apple, "Preparing multiple App Clip Codes for production".
public struct PrintMappingFile: Sendable, Hashable {
    public struct Row: Sendable, Hashable {
        public let fileName: String
        public let url: AppClipCodeURL

        public init(fileName: String, url: AppClipCodeURL) {
            self.fileName = fileName
            self.url = url
        }
    }

    public let rows: [Row]

    /// - Throws: the first row found that cannot be printed.
    public init(_ rows: [Row]) throws(CodeFileError) {
        try CodeFile.check(rows.map { ($0.fileName, $0.url) })
        self.rows = rows
    }

    /// The file's text, RFC 4180.
    public var csv: String {
        CodeFile.csv([["SVG File Name", "URL"]] + rows.map { [$0.fileName, $0.url.text] })
    }
}
