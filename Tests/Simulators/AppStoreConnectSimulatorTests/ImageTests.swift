import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

@Suite struct ImageTests {
    private static func state(_ desk: Desk, _ id: String) throws -> (String, [String]) {
        let delivery = try desk.ask("GET", "\(Desk.images)/\(id)").attributes["assetDeliveryState"]?
            .objectValue
        let errors = delivery?["errors"]?.arrayValue ?? []
        return (
            delivery?["state"]?.stringValue ?? "",
            errors.compactMap { $0.objectValue?["code"]?.stringValue }
        )
    }

    @Test func imageIsUploadedInParts() throws {
        let desk = try Desk()
        desk.turn { $0.partSize = 40 }
        let bytes = HeaderPicture.png()
        let reservation = try desk.reserve(bytes.count)
        #expect(reservation.status == 201)
        // Observed at Apple: the link `self` contains the URL of the collection.
        #expect(
            reservation.json.objectValue?["links"]?.objectValue?["self"]
                == .string("http://127.0.0.1\(Desk.images)"))
        let parts = Desk.parts(reservation)
        #expect(parts.count == (bytes.count + 39) / 40)
        #expect(try Self.state(desk, reservation.id) == ("AWAITING_UPLOAD", []))
        let type = "application/octet-stream"
        for part in parts.reversed().dropLast() {
            #expect(desk.send("PUT", part.uri, Array(bytes[part.range]), type: type)?.status == 200)
        }
        let early = try desk.commit(reservation.id, checksum: nil)
        #expect(early.codes == ["ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE"])
        let first = try #require(parts.first)
        for _ in 0..<2 {
            #expect(desk.send("PUT", first.uri, Array(bytes[first.range]), type: type)?.status == 200)
        }
        desk.turn { $0.checksumLag = 5 }
        #expect(try desk.commit(reservation.id, checksum: nil).status == 200)
        #expect(try Self.state(desk, reservation.id) == ("UPLOAD_COMPLETE", []))
        #expect(desk.send("PUT", first.uri, Array(bytes[first.range]), type: type)?.status == 403)
        #expect(try desk.commit(reservation.id, checksum: nil).codes == ["STATE_ERROR"])
        desk.pass(10)
        #expect(try Self.state(desk, reservation.id) == ("COMPLETE", []))
        #expect(
            try desk.ask("GET", "\(Desk.images)/\(reservation.id)").attributes["sourceFileChecksum"] == nil)
        desk.pass(5)
        let checksum = try desk.ask("GET", "\(Desk.images)/\(reservation.id)").attributes[
            "sourceFileChecksum"]
        #expect(checksum?.stringValue?.count == 32)
    }

    private static let wrongs: [(String, [UInt8], String?, String)] = [
        ("too small", HeaderPicture.png(width: 1_799), nil, "IMAGE_INCORRECT_DIMENSIONS"),
        ("transparent", HeaderPicture.png(hasAlpha: true), nil, "IMAGE_ALPHA_NOT_ALLOWED"),
        ("no image", Array("picture".utf8), nil, "IMAGE_INVALID"),
        (
            "another file", HeaderPicture.png(), "00000000000000000000000000000000",
            "CHECKSUM_MISMATCH"
        ),
    ]

    @Test(arguments: wrongs)
    func invalidImageFailsProcessing(
        _ name: String, _ bytes: [UInt8], _ checksum: String?, _ code: String
    ) throws {
        let desk = try Desk()
        let id = try desk.image(bytes, checksum: checksum)
        #expect(try Self.state(desk, id) == ("UPLOAD_COMPLETE", []))
        desk.pass(10)
        #expect(try Self.state(desk, id) == ("FAILED", [code]))
        #expect(try desk.create(image: id).status == 409)
    }

    @Test func invalidPartIsRejected() throws {
        let desk = try Desk()
        let bytes = HeaderPicture.png()
        let reservation = try desk.reserve(bytes.count)
        let uri = try #require(Desk.parts(reservation).first).uri
        let type = "application/octet-stream"
        let authorization = [("Authorization", try #require(desk.authorization))]
        #expect(desk.send("PUT", uri, bytes, headers: authorization, type: type)?.status == 400)
        #expect(desk.send("PUT", uri, bytes, type: nil)?.status == 400)
        #expect(desk.send("PUT", uri, Array(bytes.dropLast()), type: type)?.status == 400)
        #expect(desk.send("POST", uri, bytes, type: type)?.status == 405)
        #expect(desk.send("PUT", "/upload/x/0?Expires=1", bytes, type: type)?.status == 404)
        #expect(desk.send("PUT", uri.replacing("/0?", with: "/1?"), bytes, type: type)?.status == 400)
        #expect(desk.send("PUT", uri + "0", bytes, type: type)?.status == 403, "the end is not its own")
        desk.pass(604_800)
        #expect(desk.send("PUT", uri, bytes, type: type)?.status == 403)
        #expect(try desk.reserve(0).codes == ["ENTITY_ERROR.ATTRIBUTE.INVALID"])
    }

    @Test func uploadOperationsAreHiddenIfConfigured() throws {
        let desk = try Desk()
        desk.turn { $0.hidesUploadOperations = true }
        let reservation = try desk.reserve(100)
        #expect(Desk.parts(reservation).count == 1)
        #expect(Desk.parts(try desk.ask("GET", "\(Desk.images)/\(reservation.id)")).isEmpty)
        desk.turn { $0.hidesUploadOperations = false }
        #expect(Desk.parts(try desk.ask("GET", "\(Desk.images)/\(reservation.id)")).count == 1)
    }
}
