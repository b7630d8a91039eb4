/// A rate limit: the number of events per second in the long run, and the size of a burst.
///
/// Both from 1 to 1,000,000. The maximum of both means no limit (``off``).
public struct RateLimit: Sendable, Hashable, LosslessStringConvertible {
    public let perSecond: Int32
    public let burst: Int32

    /// Nil when a number is out of range.
    public init?(perSecond: Int, burst: Int) {
        guard Self.range.contains(perSecond), Self.range.contains(burst) else { return nil }
        self.perSecond = Int32(perSecond)
        self.burst = Int32(burst)
    }

    /// No limit.
    public static let off = RateLimit(
        perSecond: Int32(range.upperBound), burst: Int32(range.upperBound))

    /// Reads `RATE:BURST`, `RATE` alone for a burst of four times the rate, or `off`; nil for any other
    /// text.
    public init?(_ text: String) {
        if text == "off" {
            self = .off
            return
        }
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        switch numbers.count {
        case 1:
            guard let rate = numbers[0], Self.range.contains(rate) else { return nil }
            self.init(perSecond: rate, burst: min(4 * rate, Self.range.upperBound))
        case 2:
            guard let rate = numbers[0], let burst = numbers[1] else { return nil }
            self.init(perSecond: rate, burst: burst)
        default: return nil
        }
    }

    /// `RATE:BURST`, or `off`.
    public var description: String { self == .off ? "off" : "\(perSecond):\(burst)" }

    public static let range = 1...1_000_000

    /// Multiplies rate and burst, up to the maximum.
    public func times(_ count: Int) -> RateLimit {
        RateLimit(
            perSecond: Int32(min(Int(perSecond) * count, Self.range.upperBound)),
            burst: Int32(min(Int(burst) * count, Self.range.upperBound)))
    }

    private init(perSecond: Int32, burst: Int32) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// The time after which one more event is possible, in nanoseconds.
    var interval: Int64 { 1_000_000_000 / Int64(perSecond) }

    /// The number of seconds after which an exhausted burst is full again, rounded up.
    public var window: Int { (Int(burst) + Int(perSecond) - 1) / Int(perSecond) }
}

extension RateLimit? {
    /// The limit that requests are counted against; nil for ``RateLimit/off``.
    public var counted: RateLimit? { self == .off ? nil : self }
}
