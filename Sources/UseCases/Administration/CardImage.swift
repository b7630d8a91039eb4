public import Cards
public import Foundation
public import JSON

/// An image that a tenant's cards can name: kept once, by the SHA-256 of its file.
public struct CardImage: CatalogueItem {
    public let key: ImageDigest
    public let format: HeaderImage.Format
    public let byteCount: Int
    public let addedAt: Date
    /// The file, where it is to be kept; what is read of an image leaves it out.
    public let file: [UInt8]?

    public init(key: ImageDigest, format: HeaderImage.Format, byteCount: Int, addedAt: Date) {
        self.init(key, format, byteCount, addedAt, nil)
    }

    /// Looks at a file that anybody may have sent.
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

    public var json: JSONObject {
        [
            "sha256": .string(key.description), "mediaType": .string(format.rawValue),
            "byteCount": JSONValue(byteCount), "addedAt": JSONValue(addedAt),
        ]
    }

    /// Reads what ``json`` says.
    public init(_ fields: inout JSONObjectReader) throws {
        let digest = try fields.requiredString("sha256")
        guard let addedAt = try fields.optionalDate("addedAt") else {
            throw JSONFieldError.missing(path: fields.path(of: "addedAt"))
        }
        self.init(
            key: try RowRefusal.naming("sha256") { () throws(CardError) in try ImageDigest(digest) },
            format: try fields.requiredCase("mediaType", of: HeaderImage.Format.self),
            byteCount: try fields.requiredInteger("byteCount"), addedAt: addedAt)
    }
}
