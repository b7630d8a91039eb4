import Formats
import Foundation
import Testing

/// A file of `Vectors/`: an array of objects, each with the source of what it holds.
func vectors(_ name: String) throws -> [JSONObject] {
    let url = try #require(
        Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    let elements = try #require(try JSONValue(parsing: Data(contentsOf: url)).arrayValue)
    return try elements.map { element in
        let object = try #require(element.objectValue)
        #expect(object["source"]?.stringValue?.isEmpty == false)
        return object
    }
}
