/// The reason why bytes are no valid image for a card.
public enum HeaderImageError: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case tooLarge = "image_too_large"
    /// Neither a PNG's signature nor a JPEG's.
    case unknownFormat = "image_unknown_format"
    /// It ends inside a chunk or segment, or before its last one.
    case truncated = "image_truncated"
    case trailingBytes = "image_trailing_bytes"
    /// A chunk or segment violates its specification.
    case malformed = "image_malformed"
    case wrongChecksum = "image_wrong_checksum"
    /// A critical chunk that is unknown, or an encoding that browsers and phones do not read.
    case unsupported = "image_unsupported"
    case missingPalette = "image_missing_palette"
    case missingData = "image_missing_data"
    case alpha = "image_alpha"
    /// Grey or CMYK.
    case notRGB = "image_not_rgb"
    case wrongDimensions = "image_wrong_dimensions"

    /// A name that stays the same across versions.
    public var code: String { rawValue }

    public var description: String {
        switch self {
        case .tooLarge: "an image is at most \(HeaderImage.maximumByteCount) bytes"
        case .unknownFormat: "the image is neither PNG nor JPEG"
        case .truncated: "the image ends before it is complete"
        case .trailingBytes: "the file has bytes after the end of the image"
        case .malformed: "a part of the image breaks the rules of its format"
        case .wrongChecksum: "the checksum of a part of the image is wrong"
        case .unsupported: "the image uses a coding that not every program reads"
        case .missingPalette: "the image needs a palette and has none"
        case .missingData: "the image has no pixels"
        case .alpha: "the image has transparency, which cards must not have"
        case .notRGB: "the image is not in RGB"
        case .wrongDimensions: "the image is not \(HeaderImage.width) × \(HeaderImage.height) pixels"
        }
    }
}
