/// The number of bits that a URL needs in an App Clip Code, estimated.
///
/// Source of the model: sizes that a public re-implementation of Apple's generator computes for made-up URLs, and
/// the description of its format. Apple's compression tables are not used. [observed]
public struct CodeSizeEstimate: Sendable, Hashable {
    /// How the format writes path, query and fragment.
    public enum Encoding: String, Sendable, Hashable {
        /// The URL has none of them.
        case none
        /// At most one listed word as path, and values named `p`, `p1`, `p2`; the names cost nothing.
        case template
        /// Each path component and query item by itself.
        case segmented
        /// All of them as one text.
        case combined
    }

    /// Whether a URL fits in a code.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        case fits
        case tooLong = "too_long"
        /// The estimate is too close to the capacity.
        case unknown
    }

    /// The capacity of an App Clip Code, in bits. [observed]
    public static let capacity = 128

    /// The estimated size, in bits.
    public let bits: Double

    /// The standard deviation of the estimate, in bits.
    public let spread: Double

    /// The cheapest encoding.
    public let encoding: Encoding

    /// Whether the size of the host was measured; see ``HostMeasurement``.
    public let isHostMeasured: Bool

    /// A size that the URL does not exceed, in bits: nil if the host is not measured, or a part of the URL can only be
    /// written in a way whose size must be estimated.
    public let upperBound: Int?

    /// The number of labels of the host, without a leading `appclip.`.
    let labelCount: Int

    /// Whether the URL fits: about 1 in 1,000 verdicts other than `unknown` is wrong.
    ///
    /// A URL fits if its upper bound does. Otherwise the distance from the capacity decides: fixed thresholds while
    /// the host is estimated, and multiples of the spread once it is measured. Hosts of five or more labels are
    /// estimated too low, so their verdict is `unknown`.
    public var verdict: Verdict {
        if let upperBound, upperBound <= Self.capacity { return .fits }
        if isHostMeasured {
            let distance = (bits - (Double(Self.capacity) + 0.5)) / spread
            return distance <= -2.15 ? .fits : distance >= 2.4 ? .tooLong : .unknown
        }
        guard labelCount < 5 else { return .unknown }
        return bits <= 115.5 ? .fits : bits >= 144.5 ? .tooLong : .unknown
    }
}
