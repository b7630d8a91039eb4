import ArgumentParser

/// How old a saved table may be that a server starts from.
enum TableAge: ExpressibleByArgument, LosslessStringConvertible {
    case hours(Int)
    /// As old as it likes.
    case off

    /// A day: as long as keys that were revoked meanwhile, or tenants that were suspended, may go on [ours].
    static let standard = TableAge.hours(24)

    init?(argument: String) {
        if argument == "off" {
            self = .off
        } else if let hours = Int(argument), (1...8_760).contains(hours) {
            self = .hours(hours)
        } else {
            return nil
        }
    }

    init?(_ description: String) { self.init(argument: description) }

    var description: String {
        switch self {
        case .hours(let hours): "\(hours)"
        case .off: "off"
        }
    }

    /// Nil for any.
    var maximum: Duration? {
        switch self {
        case .hours(let hours): .seconds(hours * 3_600)
        case .off: nil
        }
    }
}
