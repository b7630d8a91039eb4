import Crypto
import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

/// Tokens, paths, queries and the shape of bodies.
@Suite struct RequestShapeTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)
    private static let second = Int(start.timeIntervalSince1970)

    private static let refusedTokens: [(String, String?)] = [
        ("none", nil),
        ("another scheme", Desk.token(at: start).replacing("Bearer", with: "Basic")),
        ("no token", "Bearer x"),
        ("an unknown key", Desk.token(at: start, header: ["kid": "OTHER"])),
        ("another algorithm", Desk.token(at: start, header: ["alg": "none"])),
        ("no type", Desk.token(at: start, without: ["typ"])),
        ("another's signature", Desk.token(at: start, signedBy: P256.Signing.PrivateKey())),
        ("another issuer", Desk.token(at: start, claims: ["iss": "other"])),
        ("another audience", Desk.token(at: start, claims: ["aud": "appstoreconnect-v2"])),
        ("no issue", Desk.token(at: start, without: ["iat"])),
        ("no end", Desk.token(at: start, without: ["exp"])),
        ("twenty minutes and a second", Desk.token(at: start, claims: ["exp": JSONValue(second + 1_201)])),
        ("an expired token", Desk.token(at: start - 1_200)),
        ("an issue in the future", Desk.token(at: start + 61)),
        (
            "an individual key with an issuer",
            Desk.token(at: start, header: ["kid": .string(StoreFixture.individualKeyID)])
        ),
    ]

    @Test(arguments: refusedTokens)
    func invalidTokenIsRejected(_ name: String, _ token: String?) throws {
        let desk = try Desk()
        desk.authorization = token
        let response = try desk.ask("GET", "/v1/apps")
        #expect(response.status == 401)
        #expect(response.codes == ["NOT_AUTHORIZED"])
        #expect(response.headers("X-Rate-Limit").isEmpty)
    }

    @Test func individualKeyAccessesOnlyItsApps() throws {
        let desk = try Desk()
        desk.authorization = Desk.token(
            at: desk.now, header: ["kid": .string(StoreFixture.individualKeyID)], claims: ["sub": "user"],
            without: ["iss"])
        #expect(try desk.ask("GET", "/v1/apps").rows == [StoreFixture.appID])
        #expect(try desk.ask("GET", "/v1/apps/1500000002").status == 403)
        #expect(try desk.ask("GET", "/v1/appClips/clip-2").codes == ["FORBIDDEN_ERROR"])
    }

    @Test func tokenScopeLimitsRequests() throws {
        let desk = try Desk()
        let scope: JSONValue = ["GET /v1/apps?filter[bundleId]=com.example.app"]
        desk.authorization = Desk.token(at: desk.now, claims: ["scope": scope])
        let listing = "/v1/apps?filter%5BbundleId%5D=com.example.app"
        #expect(try desk.ask("GET", listing).status == 200)
        #expect(try desk.ask("GET", listing + "&limit=5").status == 200)
        #expect(try desk.ask("GET", "/v1/apps").status == 403)
        #expect(try desk.ask("GET", listing + "&fields%5Bapps%5D=name").status == 403)
        #expect(try desk.ask("POST", Desk.images, [:]).status == 405)
    }

    @Test func missingRoleOrAgreementIsRejected() throws {
        let desk = try Desk()
        desk.turn { $0.lacksAgreement = true }
        #expect(
            try desk.ask("GET", "/v1/apps").codes == ["FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED"])
        desk.turn { $0.lacksAgreement = false }
        desk.authorization = Desk.token(at: desk.now, header: ["kid": "SUPPORT"])
        #expect(try desk.ask("GET", "/v1/apps").codes == ["FORBIDDEN_ERROR"])
    }

    private static let wrongRequests: [(String, String, Int, [String], [String])] = [
        ("GET", "/v1/nothing", 404, ["PATH_ERROR"], []),
        ("DELETE", Desk.images + "/1", 405, ["METHOD_NOT_ALLOWED"], []),
        ("GET", Desk.images, 405, ["METHOD_NOT_ALLOWED"], []),
        ("DELETE", Desk.experiences + "/1", 405, ["METHOD_NOT_ALLOWED"], []),
        ("GET", Desk.experiences + "/1", 404, ["NOT_FOUND"], []),
        ("GET", Desk.images + "/1", 404, ["NOT_FOUND"], []),
        ("GET", "/v1/apps/1", 404, ["NOT_FOUND"], []),
        ("GET", "/v1/appClips/1", 404, ["NOT_FOUND"], []),
        ("GET", Desk.listing + "?sort=link", 400, ["PARAMETER_ERROR.ILLEGAL"], ["sort"]),
        ("GET", Desk.listing + "?filter%5Blink%5D=x", 400, ["PARAMETER_ERROR.ILLEGAL"], ["filter[link]"]),
        ("GET", Desk.listing + "?limit=201", 400, ["PARAMETER_ERROR.INVALID"], ["limit"]),
        ("GET", Desk.listing + "?limit=0", 400, ["PARAMETER_ERROR.INVALID"], ["limit"]),
        ("GET", Desk.listing + "?include=localizations,app", 400, ["PARAMETER_ERROR.INVALID"], ["include"]),
        (
            "GET", Desk.listing + "?limit%5Blocalizations%5D=51", 400, ["PARAMETER_ERROR.INVALID"],
            ["limit[localizations]"]
        ),
        (
            "GET", Desk.listing + "?filter%5Bstatus%5D=GONE", 400, ["PARAMETER_ERROR.INVALID"],
            ["filter[status]"]
        ),
        (
            "GET", Desk.listing + "?fields%5BappClips%5D=name", 400, ["PARAMETER_ERROR.INVALID"],
            ["fields[appClips]"]
        ),
        ("GET", Desk.listing + "?cursor=eA%3D%3D", 400, ["PARAMETER_ERROR.INVALID"], ["cursor"]),
        ("GET", Desk.listing + "?limit=1&limit=1", 400, ["PARAMETER_ERROR.DUPLICATE"], ["limit"]),
        (
            "GET", Desk.listing + "?sort=link&limit=x", 400,
            ["PARAMETER_ERROR.ILLEGAL", "PARAMETER_ERROR.INVALID"], ["sort", "limit"]
        ),
    ]

    @Test(arguments: wrongRequests)
    func invalidPathOrQueryIsRejected(
        _ method: String, _ uri: String, _ status: Int, _ codes: [String], _ sources: [String]
    ) throws {
        let desk = try Desk()
        let response = try desk.ask(method, uri)
        #expect(response.status == status)
        #expect(response.codes == codes)
        #expect(response.sources == sources)
        #expect(response.headers("X-Rate-Limit").count == 1)
        #expect(response.headers("X-Request-ID").count == 1)
        for error in response.errors {
            #expect(error["status"] == .string(String(status)))
            #expect(error["title"]?.stringValue?.isEmpty == false)
        }
    }

    /// Each change makes a valid creation invalid. The other values are the name, and the status, code and pointer of the expected
    /// error.
    typealias Change = @Sendable (inout JSONObject) -> Void
    private static let wrongBodies: [(String, Int, String, String, Change)] = [
        ("a member of the document", 422, "ENTITY_UNPROCESSABLE", "/meta", { $0["meta"] = [:] }),
        ("no data", 422, "ENTITY_UNPROCESSABLE", "/data", { $0["data"] = nil }),
        ("data that is an array", 422, "ENTITY_UNPROCESSABLE", "/data", { $0["data"] = [] }),
        (
            "included in data", 422, "ENTITY_UNPROCESSABLE", "/data/included",
            { $0.set("data", "included", []) }
        ),
        ("another type", 422, "ENTITY_UNPROCESSABLE", "/data/type", { $0.set("data", "type", "appClip") }),
        ("an id", 409, "ENTITY_ERROR.UNEXPECTED_ID", "/data/id", { $0.set("data", "id", "1") }),
        (
            "an unknown attribute", 409, "ENTITY_ERROR.ATTRIBUTE.UNKNOWN", "/data/attributes/colour",
            { $0.set("data", "attributes", "colour", "red") }
        ),
        (
            "an attribute that is only read", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID.UNMODIFIABLE",
            "/data/attributes/status", { $0.set("data", "attributes", "status", "RECEIVED") }
        ),
        (
            "no link", 409, "ENTITY_ERROR.ATTRIBUTE.REQUIRED", "/data/attributes/link",
            { $0.set("data", "attributes", "link", nil) }
        ),
        (
            "a link that is no URI", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "/data/attributes/link",
            { $0.set("data", "attributes", "link", "example") }
        ),
        (
            "an action that is none", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "/data/attributes/action",
            { $0.set("data", "attributes", "action", "EAT") }
        ),
        (
            "a truth that is a text", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "/data/attributes/isPoweredBy",
            { $0.set("data", "attributes", "isPoweredBy", "true") }
        ),
        (
            "null where there must be a value", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID",
            "/data/attributes/defaultLanguage", { $0.set("data", "attributes", "defaultLanguage", .null) }
        ),
        (
            "a misspelt member of the place", 422, "ENTITY_UNPROCESSABLE", "/data/attributes/place/name",
            { $0.set("data", "attributes", "place", ["name": "x"]) }
        ),
        (
            "a name that is no text", 409, "ENTITY_ERROR.ATTRIBUTE.INVALID", "/data/attributes/place/names/1",
            { $0.set("data", "attributes", "place", ["names": ["x", 1]]) }
        ),
        (
            "no image", 409, "ENTITY_ERROR.RELATIONSHIP.REQUIRED", "/data/relationships/headerImage",
            { $0.set("data", "relationships", "headerImage", nil) }
        ),
        (
            "a relationship to one that is to many", 409, "ENTITY_ERROR.RELATIONSHIP.INVALID",
            "/data/relationships/appClip/data", { $0.set("data", "relationships", "appClip", ["data": []]) }
        ),
        (
            "a relationship that is none", 422, "ENTITY_UNPROCESSABLE", "/data/relationships/app",
            { $0.set("data", "relationships", "app", ["data": .null]) }
        ),
        ("included that is an object", 422, "ENTITY_UNPROCESSABLE", "/included", { $0["included"] = [:] }),
    ]

    @Test(arguments: wrongBodies)
    func invalidBodyIsRejected(
        _ name: String, _ status: Int, _ code: String, _ source: String, _ change: Change
    ) throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        var body = try #require(Desk.creation(image: image).objectValue)
        change(&body)
        let response = try desk.ask("POST", Desk.experiences, .object(body))
        #expect(response.status == status)
        #expect(response.codes.first == code)
        #expect(response.sources.first == source)
        #expect(desk.simulation.counters.creations.isEmpty)
    }

    @Test func nonJSONBodyIsRejected() throws {
        let desk = try Desk()
        let response = try #require(desk.send("POST", Desk.images, Array("{".utf8)))
        #expect(response.status == 400)
        #expect(response.codes == ["ENTITY_INVALID"])
        #expect(desk.send("POST", Desk.images, Array("{}".utf8), type: "text/plain")?.status == 415)
    }

    /// WWDC22 showed this body, which is wrong in three ways.
    @Test func wwdc22SampleBodyIsRejected() throws {
        let desk = try Desk()
        let response = try desk.ask(
            "POST", Desk.experiences,
            [
                "data": [
                    "type": "appClipAdvancedExperiences", "included": [:],
                    "attributes": [
                        "link": "https://example.com/1", "defaultLanguage": "EN", "isPoweredBy": true,
                    ],
                    "relationships": [
                        "appClip": ["data": ["type": "appClip", "id": .string(StoreFixture.clipID)]],
                        "headerImage": ["data": ["type": "appClipAdvancedExperienceImages", "id": "1"]],
                    ],
                ]
            ])
        #expect(
            Set(response.sources) == [
                "/data/included", "/data/relationships/appClip/data/type",
                "/data/relationships/localizations",
            ])
    }
}

extension JSONObject {
    mutating func set(_ key: String, _ member: String, _ value: JSONValue?) {
        var object = self[key]?.objectValue ?? [:]
        object[member] = value
        self[key] = .object(object)
    }

    mutating func set(_ key: String, _ inner: String, _ member: String, _ value: JSONValue?) {
        var object = self[key]?.objectValue ?? [:]
        object.set(inner, member, value)
        self[key] = .object(object)
    }
}
