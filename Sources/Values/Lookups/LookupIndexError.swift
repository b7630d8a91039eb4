/// The reason why a row or a file cannot be read into a lookup index.
public enum LookupIndexError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A row of the relation contains a value that no version of Doorstep writes.
    case unreadableRow(IndexRelation)
    /// The file is not a lookup index, or it is an index of another version.
    case notALookupIndex
    /// The file was cut off, or changed after it was written.
    case damagedFile

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .unreadableRow: "unreadable_row"
        case .notALookupIndex: "not_a_lookup_index"
        case .damagedFile: "damaged_file"
        }
    }

    public var description: String {
        switch self {
        case .unreadableRow(let relation): "a row of \(relation.rawValue) cannot be read"
        case .notALookupIndex: "the file is not a lookup index of this version"
        case .damagedFile: "the file is damaged"
        }
    }
}
