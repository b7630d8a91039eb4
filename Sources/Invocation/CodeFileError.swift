/// Why a file that lists App Clip Codes cannot be written.
public enum CodeFileError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooManyRows(Int)

    /// Rows are counted from 1, the header apart.
    case fileNameTooLong(row: Int)
    case invalidFileName(row: Int)
    case duplicateFileName(row: Int)
    case unfitURL(row: Int)
    case invalidColor

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .tooManyRows: "too_many_rows"
        case .fileNameTooLong: "file_name_too_long"
        case .invalidFileName: "invalid_file_name"
        case .duplicateFileName: "duplicate_file_name"
        case .unfitURL: "unfit_url"
        case .invalidColor: "invalid_color"
        }
    }

    public var description: String {
        switch self {
        case .tooManyRows(let count):
            "the file would have \(count) rows; it has at most \(CodeFile.maximumRows)"
        case .fileNameTooLong(let row):
            "row \(row): the file name is longer than \(CodeFile.maximumFileNameLength) characters"
        case .invalidFileName(let row):
            "row \(row): the file name is empty, or has a slash or a control character"
        case .duplicateFileName(let row): "row \(row): an earlier row has the same file name"
        case .unfitURL(let row): "row \(row): the URL cannot be in an App Clip Code"
        case .invalidColor: "a color is six hexadecimal digits, such as FFFFFF"
        }
    }
}
