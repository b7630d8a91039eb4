public import Cards
public import Foundation

/// An image for a tenant's cards, stored once under the SHA-256 of its file.
public struct CardImage: Resource {
    public let key: ImageDigest
    public let format: HeaderImage.Format
    public let byteCount: Int
    public let addedAt: Date
    /// The file, if the image will be stored; nil for an image that was read.
    public let file: [UInt8]?

    public init(key: ImageDigest, format: HeaderImage.Format, byteCount: Int, addedAt: Date) {
        self.init(key, format, byteCount, addedAt, nil)
    }

    /// Checks a file from an untrusted source.
    /// - Throws: `.invalidImage`.
    public init(file: [UInt8], addedAt: Date) throws(AdministrationError) {
        do throws(HeaderImageError) {
            let image = try HeaderImage(file)
            self.init(image.digest, image.format, image.byteCount, addedAt, file)
        } catch {
            throw .invalidImage(error)
        }
    }

    private init(
        _ key: ImageDigest, _ format: HeaderImage.Format, _ byteCount: Int, _ addedAt: Date, _ file: [UInt8]?
    ) {
        self.key = key
        self.format = format
        self.byteCount = byteCount
        self.addedAt = addedAt
        self.file = file
    }

    public static func key(named text: String) -> ImageDigest? { try? ImageDigest(text) }
    public static func name(of key: ImageDigest) -> String { key.description }
    public static func unknown(_ key: ImageDigest) -> AdministrationError { .unknownImage(key) }
    public static let collection = "images"

    public static let fields: [Field<CardImage>] = [
        Field(
            "sha256", .identifier(64...64, pattern: "^[0-9a-f]{64}$"), .key,
            "The SHA-256 of the file. Cards refer to the image by it."
        ) {
            .text($0.key.description)
        },
        Field(
            "mediaType", .choice(HeaderImage.Format.allCases.map(\.rawValue)), .readOnly,
            "The file's format.",
            column: "media_type"
        ) { .text($0.format.rawValue) },
        Field(
            "byteCount", .integer(1...10_485_760), .readOnly, "The file's length in bytes.",
            column: "byte_count"
        ) { .integer($0.byteCount) },
        Field("addedAt", .date, .readOnly, "When the image was added.", column: "added_at") {
            .date($0.addedAt)
        },
    ]

    /// Reads an image without its file.
    public init(_ values: inout some FieldValues) throws {
        self.init(
            key: try values.text("sha256") { text throws(CardError) in try ImageDigest(text) },
            format: try values.choice("mediaType", of: HeaderImage.Format.self),
            byteCount: try values.integer("byteCount"), addedAt: try values.date("addedAt"))
    }
}
