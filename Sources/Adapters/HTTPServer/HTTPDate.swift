import Foundation
import Synchronization

/// The `Date` field, made once a second for all connections (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let latest = Mutex((second: Int.min, text: ""))

    static func now() -> String { text(at: Date()) }

    static func text(at now: Date) -> String {
        let second = Int(now.timeIntervalSince1970.rounded(.down))
        return latest.withLock { latest in
            if second != latest.second { latest = (second, format(second)) }
            return latest.text
        }
    }

    private static func format(_ second: Int) -> String {
        var time = time_t(second)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return """
            \(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900) \
            \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT
            """
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
