import Foundation

extension Date {
    /// The same time in whole milliseconds, always the same `Date` for the same one: what was stored is equal to what is read.
    func inMilliseconds(_ rule: FloatingPointRoundingRule) -> Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1_000).rounded(rule) / 1_000)
    }
}
