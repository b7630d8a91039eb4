/// The list from which Apple's App Clip Code Generator script generates many codes.
///
/// The columns are Apple's. File names follow the rules of the mapping file, so that the codes can be
/// printed [ours]; the number of rows has no limit.
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

        fileprivate init(known text: String) {
            self.text = text
        }
    }

    /// The two colors of a code: one of the pairs of Apple's generator, or any pair.
    public struct Colors: Sendable, Hashable {
        public let foreground: Color
        public let background: Color

        public init(foreground: Color, background: Color) {
            self.foreground = foreground
            self.background = background
        }

        /// The pair with a number, as in the generator's option `--index`.
        ///
        /// Source: Apple, "Creating App Clip Codes with the App Clip Code Generator", which lists all 18. A
        /// batch file has no column for the number.
        public init(index: Int) throws(CodeFileError) {
            guard Self.offered.indices.contains(index) else { throw .invalidColors }
            self = Self.offered[index]
        }

        /// Reads a number from 0 to 17, or a foreground and a background, as `FFFFFF/0000FF`. [ours]
        public init(_ text: String) throws(CodeFileError) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count == 2 {
                self.init(foreground: try Color(String(parts[0])), background: try Color(String(parts[1])))
            } else {
                guard (1...2).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit),
                    let index = Int(text)
                else { throw .invalidColors }
                try self.init(index: index)
            }
        }

        public static let blackOnWhite = Colors(foreground: .black, background: .white)

        /// Whether scanners can distinguish the two colors.
        public var contrast: Contrast { Self.offered.contains(self) ? .sufficient : .unknown }

        /// White on each color, then the color on white.
        private static let offered = [
            "000000", "777777", "FF3B30", "EE7733", "33AA22", "00A6A1", "007AFF", "5856D6", "CC73E1",
        ].flatMap { text in
            let color = Color(known: text)
            return [
                Colors(foreground: .white, background: color), Colors(foreground: color, background: .white),
            ]
        }
    }

    public enum Contrast: String, Sendable, Hashable {
        /// Apple's generator offers the pair.
        case sufficient
        /// Only Apple's generator knows the minimum contrast.
        case unknown
    }

    public struct Row: Sendable, Hashable {
        public let fileName: String
        public let url: AppClipCodeURL
        public let colors: Colors
        public let type: CodeType
        public let logo: Logo

        public init(
            fileName: String, url: AppClipCodeURL, colors: Colors, type: CodeType, logo: Logo
        ) {
            self.fileName = fileName
            self.url = url
            self.colors = colors
            self.type = type
            self.logo = logo
        }
    }

    public let rows: [Row]

    /// - Throws: The first row found that cannot become a code.
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
                        $0.fileName, $0.url.text, $0.colors.background.text, $0.colors.foreground.text,
                        $0.type.rawValue, $0.logo.rawValue,
                    ]
                })
    }
}
