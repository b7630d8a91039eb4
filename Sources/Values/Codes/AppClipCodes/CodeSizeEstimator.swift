/// Estimates how many bits a URL needs in an App Clip Code.
///
/// The format writes a host, then path, query and fragment in the cheapest of up to three encodings. Numbers, listed
/// words and texts of six bits a character have exact sizes; compressed texts are estimated by ``TextCost``.
/// [observed]
public enum CodeSizeEstimator {
    /// Estimates the size of a URL.
    ///
    /// - Parameters:
    ///   - url: A URL with the scheme https, without user and port.
    ///   - hostBits: The size of everything before the path, query or fragment, if it was measured. It does not hold
    ///     for a URL that consists of the host alone, so it is ignored there.
    /// - Returns: Nil if the format cannot write the URL.
    public static func estimate(_ url: String, hostBits: Int? = nil) -> CodeSizeEstimate? {
        guard let parts = CodeURLParts(url) else { return nil }
        let payload = Payload(parts)
        let measured = payload.isEmpty ? nil : hostBits
        let host = measured == nil ? HostSize(parts.host, hasPayload: !payload.isEmpty) : nil
        guard let best = payload.cheapest else { return nil }
        let bits = (host?.cost.bits ?? Double(measured ?? 0)) + best.size.bits
        let variance =
            if let host {
                1.86 + 1.08 * Double(host.cost.others) + 1.74 * Double(best.size.letters)
                    + 1.5 * Double(best.size.others)
            } else {
                max(4, 2.02 * Double(best.size.letters) + 0.87 * Double(best.size.others))
            }
        return CodeSizeEstimate(
            bits: bits, spread: max(1, variance).squareRoot(), encoding: best.encoding,
            isHostMeasured: measured != nil,
            upperBound: measured.flatMap { bits in payload.upperBound.map { bits + $0 } },
            labelCount: parts.host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).count
        )
    }

    /// Whether a path component or the value of a query item is a number with leading zeros.
    ///
    /// The format writes `00042` as the number 42, so that a code may read back as another URL. [observed]
    public static func hasLeadingZeros(_ url: String) -> Bool {
        guard let parts = CodeURLParts(url) else { return false }
        let values = parts.items.compactMap { item in
            item.firstIndex(of: UInt8(ascii: "=")).map { item[($0 + 1)...] }
        }
        return (parts.components + values).contains { value in
            value.count > 1 && value.first == UInt8(ascii: "0") && value.allSatisfy(\.isDigit)
        }
    }
}
