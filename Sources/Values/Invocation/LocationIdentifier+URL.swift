extension LocationIdentifier {
    /// The identifier as a URL's path or query contains it, so that a rule can read it: all characters
    /// except RFC 3986's unreserved ones are percent-encoded.
    public var percentEncoded: String {
        var text: [UInt8] = []
        for byte in self.text.utf8 {
            if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
                text.append(byte)
            } else {
                text += "%".utf8
                for digit in [byte >> 4, byte & 15] { text += String(digit, radix: 16, uppercase: true).utf8 }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
