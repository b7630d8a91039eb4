/// Finds the exact size of a host by at most seven questions to a generator: does this URL fit in a code?
///
/// Some queries have a payload of exactly known size, so that the largest one that fits leaves the size of the host.
/// [observed]
///
/// ```
/// var measurement = HostMeasurement(host: "coffee.example.com")
/// while let url = measurement.nextURL { measurement.record(fits: ask(url)) }
/// ```
public struct HostMeasurement: Sendable {
    /// The outcome of a measurement.
    public enum Result: Sendable, Hashable {
        /// The size of everything before a path, query or fragment, in bits.
        case hostBits(Int)

        /// No URL fitted: the host leaves fewer than 27 bits, or the generator failed for another reason.
        case nothingFits

        /// Every URL fitted, also those that no code can hold.
        case everythingFits
    }

    /// The sizes of payloads that can be asked about, without gaps.
    static let payloadSizes = 27...116

    /// The sizes a host can have as a result of a measurement, in bits.
    public static let hostSizes = 13...101

    private let host: String

    /// The sizes of which it is unknown whether the first one that does not fit is among them.
    private var candidates = payloadSizes.lowerBound...(payloadSizes.upperBound + 1)

    public init(host: String) {
        self.host = host
    }

    /// The next URL to ask about; nil once there is a result.
    public var nextURL: String? {
        candidates.count > 1 ? Self.url(host, payloadBits: middle) : nil
    }

    private var middle: Int { (candidates.lowerBound + candidates.upperBound) / 2 }

    /// Records whether ``nextURL`` fits.
    public mutating func record(fits: Bool) {
        guard candidates.count > 1 else { return }
        candidates = fits ? (middle + 1)...candidates.upperBound : candidates.lowerBound...middle
    }

    /// Nil while there is a ``nextURL``.
    public var result: Result? {
        guard candidates.count == 1 else { return nil }
        return switch candidates.lowerBound {
        case Self.payloadSizes.lowerBound: .nothingFits
        case Self.payloadSizes.upperBound + 1: .everythingFits
        default: .hostBits(CodeSizeEstimate.capacity - (candidates.lowerBound - 1))
        }
    }

    /// A URL whose payload has an exact size: upper-case letters of six bits each, and numbers.
    ///
    /// - Parameter payloadBits: One of ``payloadSizes``.
    static func url(_ host: String, payloadBits: Int) -> String {
        let letters = { (count: Int) in String((0..<count).map { Self.letters[$0 % Self.letters.count] }) }
        let forms: [(bits: Int, tail: (Int) -> String)] = [
            (3, { "?p=\(letters($0))" }),
            (11, { "?p=X&p1=\(letters($0 - 1))" }),
            (12, { "/shop?p=\(letters($0))" }),
            (13, { "?p=127&p1=\(letters($0))" }),
            (20, { "/shop?p=X&p1=\(letters($0 - 1))" }),
            (22, { "/shop?p=127&p1=\(letters($0))" }),
        ]
        let form = forms.first { (payloadBits - $0.bits) % 6 == 0 } ?? forms[0]
        return "https://\(host)\(form.tail((payloadBits - form.bits) / 6))"
    }

    private static let letters = Array("XQZJKXVQ")
}
