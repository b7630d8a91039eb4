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

        /// Names the file after what the code stands for, such as a location's identifier or a URL without its scheme.
        public init(named text: String, url: AppClipCodeURL) {
            self.init(fileName: CodeFile.name(for: text), url: url)
        }
    }

    public let rows: [Row]

    /// - Throws: the first row found that cannot be printed.
    public init(_ rows: [Row]) throws(CodeFileError) {
        try CodeFile.check(rows.map { ($0.fileName, $0.url) })
        self.rows = rows
    }

    /// The most rows that a file has. [Apple]
    public static let maximumRows = CodeFile.maximumRows

    /// What keeps rows out of a file: the first reason of each row, in their order; of too many rows that alone.
    public static func problems(of rows: [Row]) -> [CodeFileError] {
        CodeFile.problems(rows.map { ($0.fileName, $0.url) })
    }

    /// The file's text, RFC 4180.
    public var csv: String {
        CodeFile.csv([["SVG File Name", "URL"]] + rows.map { [$0.fileName, $0.url.text] })
    }
}
