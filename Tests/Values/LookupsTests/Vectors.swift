import Foundation
import Testing

/// The cases of a file in `Vectors`.
func vectors<Case: Decodable>(_ name: String, of type: Case.Type) throws -> [Case] {
    let url = try #require(
        Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    return try JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
}
