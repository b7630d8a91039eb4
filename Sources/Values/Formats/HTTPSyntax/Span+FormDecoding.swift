extension Span<UInt8> {
    /// Returns the decoded bytes of a part of `application/x-www-form-urlencoded` (URL Standard §5.1).
    ///
    /// - Parameter plus: The byte for `+`.
    /// - Returns: Nil if the percent-encoding is malformed.
    func formDecoded(plus: UInt8 = UInt8(ascii: " ")) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var index = 0
        while index < count {
            let byte = self[index]
            if byte != UInt8(ascii: "%") {
                decoded.append(byte == UInt8(ascii: "+") ? plus : byte)
                index += 1
            } else if count - index > 2, let high = self[index + 1].hexadecimalValue,
                let low = self[index + 2].hexadecimalValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                return nil
            }
        }
        return decoded
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
