import Foundation

extension Date {
    /// The same time in whole milliseconds, so that a stored time equals the one that is read.
    func inMilliseconds(_ rule: FloatingPointRoundingRule) -> Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1_000).rounded(rule) / 1_000)
    }
}
