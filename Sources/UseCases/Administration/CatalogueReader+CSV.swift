import Invocation
import JSON

/// Exports in the format of imports. If an export is imported and exported again, the file has the same bytes.
extension CatalogueReader {
    /// Writes all locations as CSV: the columns of the fields, then of details, cards and metadata. Returns the number of rows.
    /// - Parameter forSpreadsheets: See ``CSVWriter``. If true, the file cannot be imported.
    public func exportLocations(
        forSpreadsheets: Bool = false, to sink: @escaping ([UInt8]) throws -> Void
    ) async throws -> Int {
        let columns = try await furtherLocationColumns()
        var writer = CSVWriter(forSpreadsheets: forSpreadsheets, sink)
        var count = 0
        try writer.append(LocationRecord.ownColumns + columns)
        try await eachLocation { location in
            let further = location.furtherFields
            try writer.append(location.ownCells + columns.map { further[$0].text })
            count += 1
        }
        try writer.finish()
        return count
    }

    /// Writes all experiences as CSV, with the columns of cards last. Returns the number of rows.
    /// - Parameter forSpreadsheets: See ``CSVWriter``. If true, the file cannot be imported.
    public func exportExperiences(
        forSpreadsheets: Bool = false, to sink: @escaping ([UInt8]) throws -> Void
    ) async throws -> Int {
        let columns = try await furtherExperienceColumns()
        var writer = CSVWriter(forSpreadsheets: forSpreadsheets, sink)
        var count = 0
        try writer.append(ExperienceRecord.ownColumns + columns)
        try await eachExperience { record in
            let further = record.furtherFields
            try writer.append(record.ownCells + columns.map { further[$0] ?? "" })
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
