import Formats

/// Exports in the format of imports. If an export is imported and exported again, the file has the same bytes.
extension CatalogueReader {
    /// Writes all items of a kind as CSV: the columns of the fields, then of the further fields. Returns the number of rows.
    /// - Parameter forSpreadsheets: See ``CSVWriter``. If true, the file cannot be imported.
    public func export<Item: CollectionResource>(
        _: Item.Type, forSpreadsheets: Bool = false, to sink: @escaping ([UInt8]) throws -> Void
    ) async throws -> Int {
        let columns = try await furtherColumns(of: Item.self)
        var writer = CSVWriter(forSpreadsheets: forSpreadsheets, sink)
        var count = 0
        try writer.append(Item.ownColumns + columns)
        try await each(Item.self) { item in
            let further = item.furtherFields
            try writer.append(item.ownCells + columns.map { further[$0].text })
            count += 1
        }
        try writer.finish()
        return count
    }
}

extension JSONValue? {
    /// A string unchanged, or empty for no value. Other values, which no import writes, as JSON.
    fileprivate var text: String {
        switch self {
        case nil: ""
        case .string(let text): text
        case .some(let value): value.text
        }
    }
}
