import Formats
import Foundation
import Geodesy

/// A latitude and a longitude in one text, as maps copy them: `51.5142, -0.1312`.
enum CoordinateText {
    /// The two numbers; nil for another text. Both need a decimal point, because "51,5" may be one number.
    static func pair(in text: String) -> (latitude: String, longitude: String)? {
        let parts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts.allSatisfy({ $0.contains(".") }) else { return nil }
        return (parts[0], parts[1])
    }

    static func coordinate(in text: String) -> Coordinate? {
        guard let pair = pair(in: text), let latitude = Double(decimal: pair.latitude),
            let longitude = Double(decimal: pair.longitude)
        else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }
}
