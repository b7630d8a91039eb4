import AppStoreConnectSimulator
import AppStoreSync
import LocalServers
import StoreSupport
import Testing

@testable import AppStoreConnect

/// The state of Apple's cache for a clip's sites.
@Suite(.timeLimit(.minutes(30))) struct DomainTests {
    private static func domains(_ store: Store) async throws -> [AssociatedDomain]? {
        let builds = try await store.client.builds(
            bundleID: StoreFixture.clipBundleID, ofApp: StoreFixture.appID)
        guard let bundle = builds.bundle else { return nil }
        return try await store.client.domains(ofBundle: bundle)
    }

    @Test(arguments: [true, false]) func domainsOfNewestBuildAreListed(_ readsOnly: Bool) async throws {
        try await Store.lend(readsOnly: readsOnly) { store in
            let first = try #require(try await Self.domains(store)?.first)
            #expect(first.host == StoreFixture.domain && first.isValid && first.errorCode == nil)
            #expect(first.updatedAt != nil)
            store.simulator.turn { $0.unreachableDomains = [StoreFixture.domain] }
            let second = try #require(try await Self.domains(store)?.first)
            #expect(!second.isValid && second.errorCode == "CANNOT_REACH_AASA_FILE")
        }
    }

    @Test func unknownClipOrAppHasNoDomains() async throws {
        try await Store.lend { store in
            let none = ClipBuilds(
                bundle: nil, release: ClipRelease(isPublished: false, version: nil, state: nil))
            let other = try await store.client.builds(
                bundleID: "com.example.none.Clip", ofApp: StoreFixture.appID)
            let nowhere = try await store.client.builds(bundleID: StoreFixture.clipBundleID, ofApp: "none")
            #expect(other == none && nowhere == none)
        }
    }

    /// Domains with characters that could end a line or a path are ignored.
    @Test func malformedDomainsAreIgnored() async throws {
        let status = """
            {"data":{"attributes":{"domains":[{"domain":"a.example"},{"isValid":true},
            {"domain":"b.example","isValid":false,"errorCode":"A B","lastUpdatedDate":"x\\ny"}]}}}
            """
        try await LocalWebServer.lend({ request in
            .init(request.path.contains("buildBundles/") ? status : "{}")
        }) { server in
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let domains = try await client.domains(ofBundle: "b")
                #expect(
                    domains == [
                        AssociatedDomain(host: "b.example", isValid: false, errorCode: nil, updatedAt: nil)
                    ])
            }
        }
    }
}
