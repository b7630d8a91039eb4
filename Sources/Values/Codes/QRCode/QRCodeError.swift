/// Why a text has no QR code of ours.
public enum QRCodeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// - Parameter bytes: The text's number of bytes.
    case tooLong(bytes: Int)
    /// Byte mode is ISO 8859-1 by the standard and UTF-8 by most readers: only ASCII is the same in both.
    case notASCII

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .tooLong: "too_long"
        case .notASCII: "not_ascii"
        }
    }

    public var description: String {
        switch self {
        case .tooLong(let bytes):
            "the text has \(bytes) bytes; a QR code has at most \(QRVersion.largest.capacity)"
        case .notASCII: "the text has characters outside ASCII"
        }
    }
}
