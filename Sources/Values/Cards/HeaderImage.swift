import Crypto
import Formats

/// An image that Apple accepts for a card: 1800 × 1200 pixels, PNG or JPEG, RGB without transparency.
///
/// Source: App Store Connect Help, "App Clip information". [Apple] The maximum size, and that no bytes may
/// follow its end, are [ours]. The reader checks the file's structure and does not decode pixels. Takes
/// linear time.
public struct HeaderImage: Sendable, Hashable {
    public static let width = 1_800
    public static let height = 1_200
    /// 10 MiB. [ours]
    public static let maximumByteCount = 10_485_760

    public enum Format: String, Sendable, Hashable, CaseIterable {
        case png = "image/png"
        case jpeg = "image/jpeg"
    }

    public let format: Format
    public let byteCount: Int
    public let digest: ImageDigest
    /// The MD5 in 32 hexadecimal digits, with which App Store Connect verifies an upload.
    public let md5: String

    /// Checks bytes from an untrusted source.
    public init(_ bytes: [UInt8]) throws(HeaderImageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
        if bytes.starts(with: PNGReader.signature) {
            var reader = PNGReader(ByteReader(bytes))
            try reader.check()
            format = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            var reader = JPEGReader(ByteReader(bytes))
            try reader.check()
            format = .jpeg
        } else {
            throw .unknownFormat
        }
        byteCount = bytes.count
        digest = ImageDigest(digest: SHA256.hash(data: bytes))
        md5 = Base16.text(Insecure.MD5.hash(data: bytes))
    }

    static func checkDimensions(width: Int, height: Int) throws(HeaderImageError) {
        guard width == Self.width, height == Self.height else { throw .wrongDimensions }
    }
}

/// Big-endian numbers and runs of bytes, one after the other.
struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func bytes(_ count: Int) throws(HeaderImageError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func byte() throws(HeaderImageError) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number of `count` bytes, at most seven.
    mutating func number(_ count: Int) throws(HeaderImageError) -> Int {
        try bytes(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
