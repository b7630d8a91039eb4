public import AppStoreSync
import Formats
import NIOHTTP1

/// Source: "Uploading assets to App Store Connect". [Apple]
extension AppStoreConnectClient {
    /// Reserves an image. A reservation whose response is lost stays unused at Apple: images can be neither listed nor removed.
    /// - Parameter byteCount: The size of the file.
    public func reserveImage(
        fileName: String, byteCount: Int, fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) -> ImageReservation {
        let document = try await write(
            .POST, "/v1/appClipAdvancedExperienceImages",
            [
                "data": [
                    "type": "appClipAdvancedExperienceImages",
                    "attributes": ["fileName": .string(fileName), "fileSize": JSONValue(byteCount)],
                ]
            ], fence)
        let data = document["data"]?.objectValue
        guard let id = data?["id"]?.stringValue,
            let values = data?["attributes"]?.objectValue?["uploadOperations"]?.arrayValue
        else { throw .unreadableResponse(status: 201, requestID: nil) }
        let operations = values.compactMap(UploadOperation.init(json:))
        guard operations.count == values.count, Self.makeUp(operations, byteCount) else {
            throw .unusableUpload
        }
        return ImageReservation(id: id, operations: operations)
    }

    /// Sends one part of a file; parts may be sent in any order, and again until the image is committed.
    public func upload(
        _ file: [UInt8], _ operation: UploadOperation
    ) async throws(AppStoreConnectError) {
        guard operation.offset >= 0, operation.length > 0, operation.length <= file.count - operation.offset
        else { throw .unusableUpload }
        try await put(Array(file[operation.offset..<operation.offset + operation.length]), operation)
    }

    /// Reports that all parts are uploaded.
    /// - Parameter md5: The MD5 of the file, in hexadecimal digits.
    public func commitImage(
        _ id: String, md5: String, fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) -> ImageState {
        let document = try await write(
            .PATCH, "/v1/appClipAdvancedExperienceImages/\(try Self.checked(id))",
            [
                "data": [
                    "type": "appClipAdvancedExperienceImages", "id": .string(id),
                    "attributes": ["uploaded": true, "sourceFileChecksum": .string(md5)],
                ]
            ], fence)
        return try Self.state(document)
    }

    /// The state of an image; nil if it does not exist.
    public func image(_ id: String) async throws(AppStoreConnectError) -> ImageState? {
        do throws(AppStoreConnectError) {
            return try Self.state(
                try await get(
                    "/v1/appClipAdvancedExperienceImages/\(try Self.checked(id))",
                    [("fields[appClipAdvancedExperienceImages]", "assetDeliveryState")]))
        } catch {
            guard case .refused(let refusal) = error, refusal.verdict == .gone else { throw error }
            return nil
        }
    }

    /// Whether the parts cover a file without gaps.
    static func makeUp(_ operations: [UploadOperation], _ byteCount: Int) -> Bool {
        var end = 0
        for operation in operations.sorted(by: { $0.offset < $1.offset }) {
            guard operation.offset == end, operation.length > 0, operation.length <= byteCount - end else {
                return false
            }
            end += operation.length
        }
        return end == byteCount
    }

    private static func state(_ document: JSONObject) throws(AppStoreConnectError) -> ImageState {
        let attributes = document["data"]?.objectValue?["attributes"]?.objectValue
        guard let delivery = attributes?["assetDeliveryState"]?.objectValue,
            let phase = delivery["state"]?.stringValue.flatMap(ImageState.Phase.init)
        else { throw unreadable }
        let failures = (delivery["errors"]?.arrayValue ?? []).compactMap {
            $0.objectValue?["code"]?.stringValue
        }
        return ImageState(phase: phase, failures: failures)
    }
}
