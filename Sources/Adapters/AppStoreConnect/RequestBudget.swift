import Foundation

/// A key's rate limit, from `X-Rate-Limit`.
///
/// Source: "Identifying rate limits": a rolling hour for each key. [Apple] A minute for writes was seen beside it or instead, in
/// the same line or in one of its own. [observed]
public struct RequestBudget: Sendable, Hashable {
    /// All numbers by their names, such as `user-hour-rem`.
    public let values: [String: Int]

    /// A nil value was missing. That does not mean that there is no limit.
    public var hourLimit: Int? { values["user-hour-lim"] }
    public var hourRemaining: Int? { values["user-hour-rem"] }
    public var minuteLimit: Int? { values["user-minute-lim"] }
    public var minuteRemaining: Int? { values["user-minute-rem"] }

    var hour: (limit: Int, rest: Int)? { pair(hourLimit, hourRemaining) }
    var minute: (limit: Int, rest: Int)? { pair(minuteLimit, minuteRemaining) }

    private func pair(_ limit: Int?, _ rest: Int?) -> (limit: Int, rest: Int)? {
        limit.flatMap { limit in rest.map { (limit, $0) } }
    }

    /// Nil if no line contains a number.
    init?(_ lines: [String]) {
        var values: [String: Int] = [:]
        for part in lines.joined(separator: ";").prefix(Self.maximumLength).split(whereSeparator: {
            $0 == ";" || $0 == ","
        }) {
            let pair = part.split(separator: ":", maxSplits: 1)
            guard pair.count == 2, let number = Int(pair[1].trimmingCharacters(in: .whitespaces)), number >= 0
            else { continue }
            values[pair[0].trimmingCharacters(in: .whitespaces).lowercased()] = number
        }
        guard !values.isEmpty else { return nil }
        self.values = values
    }

    /// Longer values are not valid. [ours]
    private static let maximumLength = 1_024
}
