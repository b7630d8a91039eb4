/// Why a file that lists App Clip Codes cannot be written.
public enum CodeFileError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooManyRows(Int)

    /// Rows are counted from 1, the header apart.
    case fileNameTooLong(row: Int)
    case invalidFileName(row: Int)
    case duplicateFileName(row: Int)
    case unfitURL(row: Int)
    case invalidColor
    case invalidColors

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .tooManyRows: "too_many_rows"
        case .fileNameTooLong: "file_name_too_long"
        case .invalidFileName: "invalid_file_name"
        case .duplicateFileName: "duplicate_file_name"
        case .unfitURL: "unfit_url"
        case .invalidColor: "invalid_color"
        case .invalidColors: "invalid_colors"
        }
    }

    /// The row with the error; nil if the error concerns all rows.
    public var row: Int? {
        switch self {
        case .fileNameTooLong(let row), .invalidFileName(let row), .duplicateFileName(let row),
            .unfitURL(let row):
            row
        case .tooManyRows, .invalidColor, .invalidColors: nil
        }
    }

    /// The reason, without the row.
    public var reason: String {
        switch self {
        case .tooManyRows(let count):
            "the file would have \(count) rows; it has at most \(PrintMappingFile.maximumRows)"
        case .fileNameTooLong:
            "the file name is longer than \(CodeFile.maximumFileNameLength) characters"
        case .invalidFileName: "the file name is empty, or has a slash or a control character"
        case .duplicateFileName: "an earlier row has the same file name"
        case .unfitURL: "the URL cannot be in an App Clip Code"
        case .invalidColors:
            "colors are a number from 0 to 17, or a foreground and a background such as FFFFFF/0000FF"
        case .invalidColor: "a color is six hexadecimal digits, such as FFFFFF"
        }
    }

    public var description: String {
        (row.map { "row \($0): " } ?? "") + reason
    }
}
