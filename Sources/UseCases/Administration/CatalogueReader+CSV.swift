import Invocation
import JSON

/// Exports, which an import of the same kind takes: imported and exported again, they are the same bytes.
extension CatalogueReader {
    /// Writes all locations as CSV: the location's columns, then those of details, cards and metadata. Returns the number of
    /// rows.
    /// - Parameter forSpreadsheets: as ``CSVWriter`` has it; an import does not take the file then.
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

    /// Writes all experiences as CSV, their cards after all else; returns how many.
    /// - Parameter forSpreadsheets: as ``CSVWriter`` has it; an import does not take the file then.
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
    /// A string as it is, empty for none; anything else, which no import writes, as JSON.
    fileprivate var text: String {
        switch self {
        case nil: ""
        case .string(let text): text
        case .some(let value): value.text
        }
    }
}
