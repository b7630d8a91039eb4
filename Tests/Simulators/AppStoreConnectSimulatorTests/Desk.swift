import Crypto
import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

/// Asks a simulation, without a server, at a time that tests set.
final class Desk {
    var simulation: StoreSimulation
    var now = Date(timeIntervalSince1970: 1_790_000_000)
    var authorization: String?

    init(_ change: (inout AppStoreConnectSimulator.Options) -> Void = { _ in }) throws {
        var options = StoreFixture.options
        change(&options)
        simulation = try StoreSimulation(options)
        authorization = Self.token(at: now)
    }

    struct Answer {
        let status: Int
        let headers: [(String, String)]
        let body: [UInt8]

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
        var data: JSONValue? { json.objectValue?["data"] }
        var id: String { data?.objectValue?["id"]?.stringValue ?? "" }
        var attributes: JSONObject { data?.objectValue?["attributes"]?.objectValue ?? [:] }
        var rows: [String] { (data?.arrayValue ?? []).compactMap { $0.objectValue?["id"]?.stringValue } }
        var codes: [String] { errors.compactMap { $0["code"]?.stringValue } }
        var errors: [JSONObject] { (json.objectValue?["errors"]?.arrayValue ?? []).compactMap(\.objectValue) }
        /// Pointers and parameters.
        var sources: [String] {
            errors.compactMap { $0["source"]?.objectValue?.first?.value.stringValue }
        }

        func headers(_ name: String) -> [String] { headers.filter { $0.0 == name }.map(\.1) }
    }

    func ask(
        _ method: String, _ uri: String, _ body: JSONValue? = nil, headers: [(String, String)] = []
    ) throws -> Answer {
        try #require(send(method, uri, body.map { $0.serialized() } ?? [], headers: headers))
    }

    /// Nil if the connection is closed without a response.
    func send(
        _ method: String, _ uri: String, _ body: [UInt8], headers: [(String, String)] = [],
        type: String? = "application/json"
    ) -> Answer? {
        var request = StoreSimulation.Request(method: method, uri: uri, body: body)
        if let authorization, uri.hasPrefix("/v1") {
            request.headers.append(("Authorization", authorization))
        }
        if let type { request.headers.append(("Content-Type", type)) }
        request.headers += headers.map { (name: $0.0, value: $0.1) }
        return simulation.respond(to: request, at: now).response.map {
            Answer(status: $0.status, headers: $0.headers, body: $0.body)
        }
    }

    func pass(_ seconds: Double) {
        simulation.advance(by: seconds)
    }

    func turn(_ change: (inout Knobs) -> Void) {
        change(&simulation.account.knobs)
    }

    // MARK: Tokens

    static func token(
        at now: Date, header: JSONObject = [:], claims: JSONObject = [:], without: [String] = [],
        signedBy key: P256.Signing.PrivateKey = StoreFixture.key
    ) -> String {
        let issued = Int(now.timeIntervalSince1970)
        var head: JSONObject = ["alg": "ES256", "kid": .string(StoreFixture.keyID), "typ": "JWT"]
        var body: JSONObject = [
            "iss": .string(StoreFixture.issuer), "iat": JSONValue(issued), "exp": JSONValue(issued + 1_200),
            "aud": "appstoreconnect-v1",
        ]
        for (name, value) in header { head[name] = value }
        for (name, value) in claims { body[name] = value }
        for name in without {
            head[name] = nil
            body[name] = nil
        }
        let signed = [head, body].map { Base64URL.text(JSONValue.object($0).serialized()) }
            .joined(separator: ".")
        let signature = try? key.signature(for: Array(signed.utf8)).rawRepresentation
        return "Bearer \(signed).\(Base64URL.text(signature ?? Data()))"
    }

    // MARK: Bodies

    static let experiences = "/v1/appClipAdvancedExperiences"
    static let images = "/v1/appClipAdvancedExperienceImages"
    static let listing = "/v1/appClips/\(StoreFixture.clipID)/appClipAdvancedExperiences"

    static func creation(
        _ link: String = "https://example.com/1", image: String, attributes: JSONObject = [:],
        texts: [(id: String, attributes: JSONObject)] = [("${EN}", ["language": "EN", "title": "One"])],
        clip: String = StoreFixture.clipID
    ) -> JSONValue {
        var given: JSONObject = ["link": .string(link), "defaultLanguage": "EN", "isPoweredBy": true]
        for (name, value) in attributes { given[name] = value }
        let type: JSONValue = "appClipAdvancedExperienceLocalizations"
        return [
            "data": [
                "type": "appClipAdvancedExperiences", "attributes": .object(given),
                "relationships": [
                    "appClip": ["data": ["type": "appClips", "id": .string(clip)]],
                    "headerImage": [
                        "data": ["type": "appClipAdvancedExperienceImages", "id": .string(image)]
                    ],
                    "localizations": [
                        "data": .array(texts.map { ["type": type, "id": .string($0.id)] })
                    ],
                ],
            ],
            "included": .array(
                texts.map { ["type": type, "id": .string($0.id), "attributes": .object($0.attributes)] }),
        ]
    }

    static func change(
        _ id: String, _ attributes: JSONObject = [:], relationships: JSONObject? = nil,
        included: [JSONValue]? = nil
    ) -> JSONValue {
        var data: JSONObject = [
            "type": "appClipAdvancedExperiences", "id": .string(id), "attributes": .object(attributes),
        ]
        data["relationships"] = relationships.map(JSONValue.object)
        var document: JSONObject = ["data": .object(data)]
        document["included"] = included.map(JSONValue.array)
        return .object(document)
    }

    func change(_ id: String, _ attributes: JSONObject) throws -> Answer {
        try ask("PATCH", "\(Self.experiences)/\(id)", Self.change(id, attributes))
    }

    func create(_ link: String = "https://example.com/1", image: String) throws -> Answer {
        try ask("POST", Self.experiences, Self.creation(link, image: image))
    }

    func reserve(_ size: Int) throws -> Answer {
        try ask(
            "POST", Self.images,
            [
                "data": [
                    "type": "appClipAdvancedExperienceImages",
                    "attributes": ["fileName": "header.png", "fileSize": JSONValue(size)],
                ]
            ])
    }

    func commit(_ id: String, checksum: String?) throws -> Answer {
        try ask(
            "PATCH", "\(Self.images)/\(id)",
            [
                "data": [
                    "type": "appClipAdvancedExperienceImages", "id": .string(id),
                    "attributes": [
                        "uploaded": true, "sourceFileChecksum": checksum.map(JSONValue.string) ?? .null,
                    ],
                ]
            ])
    }

    /// Path and query, offset and length of each part.
    static func parts(_ reservation: Answer) -> [(uri: String, range: Range<Int>)] {
        (reservation.attributes["uploadOperations"]?.arrayValue ?? []).compactMap { operation in
            guard let members = operation.objectValue, let url = members["url"]?.stringValue,
                let offset = members["offset"]?.numberValue?.int,
                let length = members["length"]?.numberValue?.int, let start = url.range(of: "/upload/")
            else { return nil }
            return (String(url[start.lowerBound...]), offset..<offset + length)
        }
    }

    /// Uploads and commits an image. Its state changes with time.
    func image(_ bytes: [UInt8] = HeaderPicture.png(), checksum: String? = nil) throws -> String {
        let reservation = try reserve(bytes.count)
        for part in Self.parts(reservation) {
            let response = send("PUT", part.uri, Array(bytes[part.range]), type: "application/octet-stream")
            #expect(response?.status == 200)
        }
        let md5 = Base16.text(Insecure.MD5.hash(data: bytes))
        #expect(try commit(reservation.id, checksum: checksum ?? md5).status == 200)
        return reservation.id
    }

    func completeImage() throws -> String {
        let id = try image()
        pass(10)
        return id
    }
}
