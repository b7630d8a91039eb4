/// The list from which Apple's App Clip Code Generator script makes many codes.
///
/// The columns are Apple's; the limits are those of the mapping file, so that a batch can go to print whole.
/// [ours]
/// Source: Apple, "Creating App Clip Codes with the App Clip Code Generator".
public struct GeneratorBatchFile: Sendable, Hashable {
    /// How the code is invoked.
    public enum CodeType: String, Sendable, Hashable, CaseIterable {
        /// Scanned by a camera only.
        case camera = "cam"
        case nfc
    }

    /// Whether the code is drawn inside the App Clip badge.
    public enum Logo: String, Sendable, Hashable, CaseIterable {
        case badge
        case none
    }

    /// Six hexadecimal digits, in upper case.
    public struct Color: Sendable, Hashable {
        public let text: String

        public init(_ text: String) throws(CodeFileError) {
            guard text.utf8.count == 6, text.utf8.allSatisfy(\.isHexDigit) else { throw .invalidColor }
            self.text = text.uppercased()
        }

        public static let white = Color(known: "FFFFFF")
        public static let black = Color(known: "000000")

        private init(known text: String) {
            self.text = text
        }
    }

    public struct Row: Sendable, Hashable {
        public let fileName: String
        public let url: AppClipCodeURL
        public let background: Color
        public let foreground: Color
        public let type: CodeType
        public let logo: Logo

        public init(
            fileName: String, url: AppClipCodeURL, background: Color, foreground: Color, type: CodeType,
            logo: Logo
        ) {
            self.fileName = fileName
            self.url = url
            self.background = background
            self.foreground = foreground
            self.type = type
            self.logo = logo
        }
    }

    public let rows: [Row]

    /// - Throws: the first row found that makes no code.
    public init(_ rows: [Row]) throws(CodeFileError) {
        try CodeFile.check(rows.map { ($0.fileName, $0.url) })
        self.rows = rows
    }

    /// The file's text, RFC 4180.
    public var csv: String {
        let header = ["SVG File Name", "URL", "Background Color", "Foreground Color", "Type", "Logo"]
        return CodeFile.csv(
            [header]
                + rows.map {
                    [
                        $0.fileName, $0.url.text, $0.background.text, $0.foreground.text, $0.type.rawValue,
                        $0.logo.rawValue,
                    ]
                })
    }
}
