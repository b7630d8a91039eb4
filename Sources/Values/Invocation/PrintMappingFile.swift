/// The mapping file for a printing service, which accompanies the SVG files of the App Clip Codes.
///
/// At most 10,000 rows, file names of at most 188 characters. Source: Apple, "Preparing multiple App Clip
/// Codes for production".
public struct PrintMappingFile: Sendable, Hashable {
    public struct Row: Sendable, Hashable {
        public let fileName: String
        public let url: AppClipCodeURL

        public init(fileName: String, url: AppClipCodeURL) {
            self.fileName = fileName
            self.url = url
        }

        /// Derives the file's name from the code's label, such as a location's identifier or a URL without
        /// its scheme.
        public init(named text: String, url: AppClipCodeURL) {
            self.init(fileName: CodeFile.name(for: text), url: url)
        }
    }

    public let rows: [Row]

    /// - Throws: `tooManyRows`, or the first row found that cannot be printed.
    public init(_ rows: [Row]) throws(CodeFileError) {
        guard rows.count <= Self.maximumRows else { throw .tooManyRows(rows.count) }
        try CodeFile.check(rows.map { ($0.fileName, $0.url) })
        self.rows = rows
    }

    /// The maximum number of rows of a file. [Apple]
    public static let maximumRows = 10_000

    /// Returns the files that contain all rows in their order: each is full except the last one.
    ///
    /// File names are checked within each file. ``problems(of:)`` checks them across all files, as one
    /// folder of codes requires.
    public static func files(of rows: [Row]) throws(CodeFileError) -> [PrintMappingFile] {
        var files: [PrintMappingFile] = []
        for start in stride(from: 0, to: rows.count, by: maximumRows) {
            files.append(try PrintMappingFile(Array(rows[start..<min(start + maximumRows, rows.count)])))
        }
        return files
    }

    /// Returns the rows that the files cannot contain: the first reason of each row, in order.
    public static func problems(of rows: [Row]) -> [CodeFileError] {
        CodeFile.problems(rows.map { ($0.fileName, $0.url) })
    }

    /// The file's text, RFC 4180.
    public var csv: String {
        CodeFile.csv([["SVG File Name", "URL"]] + rows.map { [$0.fileName, $0.url.text] })
    }
}
