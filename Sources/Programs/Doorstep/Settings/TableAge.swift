import ArgumentParser

/// The maximum age of a saved lookup index from which a server starts.
enum TableAge: ExpressibleByArgument, CustomStringConvertible {
    case hours(Int)
    /// Any age.
    case off

    /// A day. For this long, revoked keys and suspended tenants may still work. [ours]
    static let standard = TableAge.hours(24)
    /// The allowed values, for people.
    static let range = "\(allowedHours.lowerBound) to \(allowedHours.upperBound), or 'off' for any"

    private static let allowedHours = 1...8_760

    init?(argument: String) {
        if argument == "off" {
            self = .off
        } else if let hours = Int(argument), Self.allowedHours.contains(hours) {
            self = .hours(hours)
        } else {
            return nil
        }
    }

    var description: String {
        switch self {
        case .hours(let hours): "\(hours)"
        case .off: "off"
        }
    }

    /// Nil for any age.
    var maximum: Duration? {
        switch self {
        case .hours(let hours): .seconds(hours * 3_600)
        case .off: nil
        }
    }
}
