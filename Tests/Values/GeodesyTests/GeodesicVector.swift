import Foundation
import Geodesy

/// A line of `Vectors/geodesic.csv`.
struct GeodesicVector {
    let line: Int
    let start: Coordinate
    let end: Coordinate
    let meters: Double

    /// Returns all vectors of the file. Throws an error for a line that is not a vector.
    static func all() throws -> [GeodesicVector] {
        guard
            let file = Bundle.module.url(
                forResource: "geodesic", withExtension: "csv", subdirectory: "Vectors")
        else { throw CocoaError(.fileNoSuchFile) }
        let text = try String(contentsOf: file, encoding: .utf8)
        // Two lines of heading: the source, and the names of the columns.
        return try text.split(separator: "\n").enumerated().dropFirst(2).map { index, line in
            let numbers = line.split(separator: ",").compactMap { Double($0) }
            guard numbers.count == 5 else { throw CocoaError(.fileReadCorruptFile) }
            return try GeodesicVector(
                line: index + 1,
                start: Coordinate(latitude: numbers[0], longitude: numbers[1]),
                end: Coordinate(latitude: numbers[2], longitude: numbers[3]),
                meters: numbers[4])
        }
    }
}
