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

    /// Images of a tenant. [ours]
    public static let maximumCount = 1_000
    /// Bytes of a tenant's images together: 1 GiB. [ours]
    public static let maximumTotal = 1 << 30

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

    /// Refuses one more where there are as many as may be.
    /// - Parameters:
    ///   - count: how many there are.
    ///   - total: their bytes.
    public func checkRoom(beside count: Int, of total: Int) throws(AdministrationError) {
        guard count < Self.maximumCount, total + byteCount <= Self.maximumTotal else { throw .tooManyImages }
    }
}
