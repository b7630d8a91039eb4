import Administration
import Formats
import Foundation
import Lookups
import Notifications
import Synchronization
import Tenancy
import Testing

@testable import HTTPAPI

@Suite struct LocalAPITests {
    private let tenant = TenantID(UUID())
    private let locations = MemoryCatalogueStore<LocationRecord>()
    private let api: LocalAPI

    init() {
        let images = MemoryCatalogueStore<CardImage>()
        let experiences = MemoryCatalogueStore<ExperienceRecord>()
        let shortCodes = MemoryCatalogueStore<ShortCode>()
        let catalogue = ManagedCatalogue(
            items: CatalogueStores(
                clips: MemoryCatalogueStore<Clip>(), images: images, locations: locations,
                experiences: experiences, domains: MemoryCatalogueStore<DomainRecord>(),
                plainCollections: [shortCodes]),
            imageFiles: MemoryImageFiles(images: images), tenant: MemoryTenantStore(), keys: MemoryKeyStore(),
            attestKeys: MemoryAttestKeyStore(), auditLog: MemoryAuditLog())
        api = LocalAPI(
            of: tenant, by: "operator:ada",
            ManagementParts(
                catalogue: catalogue, webhooks: nil, confirmations: MemoryConfirmationHistory(),
                deliveries: MemoryDeliveryLedger(), history: MemoryNotificationHistory(MemoryChannels())),
            APIResponses(recorder: MemoryRecorder()), NotificationIntake(MemoryNotifications())
        ) { [tenant] in LookupIndex().of(tenant) }
    }

    private func call(
        _ method: String, _ path: String, _ query: String = "", fields: [(name: String, value: String)] = [],
        body: LocalAPI.Body? = nil
    ) async throws -> (status: Int, tag: String?, json: JSONObject) {
        let response = try await api.respond(to: method, path, query: query, fields: fields, body: body)
        let json = response.body.isEmpty ? nil : try JSONValue(parsing: response.body).objectValue
        return (response.status, response.entityTag, json ?? [:])
    }

    private static let oven = LocalAPI.Body.bytes(
        Array(#"{"name":"Oven","latitude":1,"longitude":2,"radius":100}"#.utf8))

    @Test func localCallChangesAsOperator() async throws {
        let created = try await call("PUT", "/v1/locations/a%2Fb", body: Self.oven)
        #expect(created.status == 201)
        #expect(locations.actors == ["operator:ada"])
        let shown = try await call("GET", "/v1/locations/a%2Fb")
        #expect(shown.status == 200 && shown.json["identifier"] == "a/b")
        #expect(shown.tag != nil && shown.tag == created.tag)
    }

    @Test func localCallWithStaleTagIsRefused() async throws {
        _ = try await call("PUT", "/v1/locations/a", body: Self.oven)
        let refused = try await call(
            "DELETE", "/v1/locations/a", fields: [(name: "If-Match", value: "\"0\"")])
        #expect(refused.status == 412 && refused.json["code"] == "precondition_failed")
        #expect(refused.json["requestID"] == nil)
    }

    @Test(arguments: [
        ("GET", "/v1/status"), ("PUT", "/v1/instances/a"), ("GET", "/v1/nothing"), ("GET", "/"),
        ("POST", "/v1/domains/a.example/verify"), ("", "/v1/locations"),
    ])
    func localCallOfOtherEndpointIsNotFound(method: String, path: String) async throws {
        #expect(try await call(method, path).status == 404)
    }

    @Test func localImportReadsChunksWhileTheyCome() async throws {
        let chunks = Mutex(["identifier,name,latitude,lon", "gitude,radius\na,A,1,2,3\n", "b,B,1,2,3"])
        let body = LocalAPI.Body.chunks(
            FileChunks { chunks.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
        let imported = try await call(
            "PATCH", "/v1/locations", "dryRun=true", fields: [(name: "Content-Type", value: "text/csv")],
            body: body)
        #expect(imported.status == 200 && imported.json["added"] == 2)
        #expect(try await call("GET", "/v1/locations/a").status == 404)
    }

    @Test func localImportOfUnreadableFileThrowsItsError() async throws {
        struct Unreadable: Error {}
        let body = LocalAPI.Body.chunks(FileChunks { throw Unreadable() })
        await #expect(throws: Unreadable.self) {
            try await call(
                "PATCH", "/v1/locations", fields: [(name: "Content-Type", value: "text/csv")], body: body)
        }
    }
}
