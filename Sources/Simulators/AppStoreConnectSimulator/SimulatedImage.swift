import Cards
import Crypto
import Formats
import Foundation

/// A header image, beginning with its reservation.
struct SimulatedImage: Sendable {
    let id: String
    let fileName: String
    let fileSize: Int
    let reserved: Date
    /// The token that permits uploads.
    let secret: String
    /// The parts by number.
    private(set) var parts: [Int: [UInt8]] = [:]
    private(set) var committed: Date?
    private(set) var checksum: String?
    /// The reason why the image will fail; nil before the check, and if nothing is wrong.
    private(set) var failure: String?

    init(id: String, fileName: String, fileSize: Int, reserved: Date, secret: String) {
        self.id = id
        self.fileName = fileName
        self.fileSize = fileSize
        self.reserved = reserved
        self.secret = secret
    }

    /// The maximum number of bytes of a file. [ours]
    static let maximumFileSize = HeaderImage.maximumByteCount

    func ranges(partSize: Int) -> [Range<Int>] {
        stride(from: 0, to: fileSize, by: partSize).map { $0..<min($0 + partSize, fileSize) }
    }

    mutating func take(_ bytes: [UInt8], part: Int) {
        parts[part] = bytes
    }

    var byteCount: Int { parts.values.reduce(0) { $0 + $1.count } }

    /// Checks the uploaded file. The result appears later.
    /// - Parameter checksum: The MD5 as hexadecimal digits; nil for none.
    mutating func commit(checksum: String?, at now: Date) {
        let bytes = parts.sorted { $0.key < $1.key }.flatMap(\.value)
        let md5 = Base16.text(Insecure.MD5.hash(data: bytes))
        failure = nil
        if let checksum, checksum.lowercased() != md5 {
            failure = "CHECKSUM_MISMATCH"
        } else {
            do throws(HeaderImageError) {
                _ = try HeaderImage(bytes)
            } catch {
                failure =
                    switch error {
                    case .wrongDimensions: "IMAGE_INCORRECT_DIMENSIONS"
                    case .alpha: "IMAGE_ALPHA_NOT_ALLOWED"
                    default: "IMAGE_INVALID"
                    }
            }
        }
        self.checksum = md5
        committed = now
        parts = [:]
    }

    enum State: String {
        case awaitingUpload = "AWAITING_UPLOAD"
        case uploadComplete = "UPLOAD_COMPLETE"
        case complete = "COMPLETE"
        case failed = "FAILED"
    }

    func state(_ knobs: Knobs, at now: Date) -> State {
        guard let committed else { return .awaitingUpload }
        guard now.timeIntervalSince(committed) >= knobs.processing else { return .uploadComplete }
        return failure == nil ? .complete : .failed
    }

    func end(_ knobs: Knobs) -> Date { reserved.addingTimeInterval(knobs.reservation) }

    /// - Parameter host: The origin for the uploads, such as `http://127.0.0.1:8080`; nil to leave the operations out.
    func attributes(_ knobs: Knobs, host: String?, at now: Date) -> JSONObject {
        let state = state(knobs, at: now)
        var errors: [JSONValue] = []
        if state == .failed, let failure {
            errors = [["code": .string(failure), "description": "The image cannot be used."]]
        }
        var attributes: JSONObject = [
            "fileName": .string(fileName), "fileSize": JSONValue(fileSize),
            "assetDeliveryState": [
                "state": .string(state.rawValue), "errors": .array(errors), "warnings": [],
            ],
        ]
        if let committed, state == .complete, let checksum,
            now.timeIntervalSince(committed) >= knobs.processing + knobs.checksumLag
        {
            attributes["sourceFileChecksum"] = .string(checksum)
        }
        if state == .complete {
            attributes["imageAsset"] = [
                "width": JSONValue(HeaderImage.width), "height": JSONValue(HeaderImage.height),
                "templateUrl": .string("https://example.com/\(id)/{w}x{h}bb.{f}"),
            ]
        }
        if let host, state == .awaitingUpload {
            let end = Int(end(knobs).timeIntervalSince1970)
            attributes["uploadOperations"] = .array(
                ranges(partSize: knobs.partSize).enumerated().map { number, range in
                    [
                        "method": "PUT", "offset": JSONValue(range.lowerBound),
                        "length": JSONValue(range.count),
                        "url": .string("\(host)/upload/\(secret)/\(number)?Expires=\(end)"),
                        "requestHeaders": [["name": "Content-Type", "value": "application/octet-stream"]],
                    ]
                })
        } else {
            attributes["uploadOperations"] = []
        }
        return attributes
    }
}
