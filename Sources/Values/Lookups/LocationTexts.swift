/// The optional texts of a location that responses show as its members: the columns of ``LocationColumn/texts``.
struct LocationTexts: Sendable, Hashable {
    static let none = LocationTexts(texts: [])

    private let texts: [Text]

    private struct Text: Hashable {
        let column: LocationColumn
        let text: String
    }

    private init(texts: [Text]) {
        self.texts = texts
    }

    /// The text of a column in UTF-8; nil if the location has none.
    subscript(column: LocationColumn) -> [UInt8]? {
        texts.first { $0.column == column }.map { Array($0.text.utf8) }
    }

    // MARK: In the lookup index

    /// Nil if the row's texts cannot be read.
    init?(_ row: borrowing IndexRow, of columns: [LocationColumn] = LocationColumn.texts) {
        var texts: [Text] = []
        for column in columns where !row.isNull(column) {
            guard let text = row.text(column), !text.utf8.contains(0) else { return nil }
            texts.append(Text(column: column, text: text))
        }
        self.init(texts: texts)
    }

    /// For each column a NUL and the text, which is empty if the location lacks this text. If the location has no texts at all, the
    /// result is empty.
    func packed(_ columns: [LocationColumn] = LocationColumn.texts) -> [UInt8] {
        guard !texts.isEmpty else { return [] }
        return columns.reduce(into: []) { $0 += [0] + (self[$1] ?? []) }
    }

    /// Copies the result of ``packed(_:)``.
    init(copying packed: Span<UInt8>, of columns: [LocationColumn] = LocationColumn.texts) {
        guard !packed.isEmpty else {
            self = .none
            return
        }
        let parts = Array(copying: packed).split(separator: 0, omittingEmptySubsequences: false).dropFirst()
        self.init(
            texts: zip(columns, parts).compactMap { column, part in
                part.isEmpty ? nil : Text(column: column, text: String(decoding: part, as: UTF8.self))
            })
    }

    // MARK: In responses

    var members: [(name: String, text: String)] { texts.map { ("\($0.column)", $0.text) } }
}
