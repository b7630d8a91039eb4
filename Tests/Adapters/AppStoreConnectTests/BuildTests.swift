import AppStoreConnectSimulator
import AppStoreSync
import LocalServers
import StoreSupport
import Testing

@testable import AppStoreConnect

/// Whether a version with the clip is on the App Store.
@Suite(.timeLimit(.minutes(30))) struct BuildTests {
    private static func release(_ store: Store) async throws -> ClipRelease? {
        try await store.client.builds(bundleID: StoreFixture.clipBundleID, ofApp: StoreFixture.appID).release
    }

    @Test(arguments: [true, false]) func versionStateDecidesPublication(_ readsOnly: Bool) async throws {
        try await Store.lend(readsOnly: readsOnly) { store in
            for state in Knobs.VersionState.allCases {
                store.simulator.turn { $0.versionState = state }
                let expected = ClipRelease(
                    isPublished: state == .readyForDistribution, version: "1.0", state: state.rawValue)
                let release = try await Self.release(store)
                #expect(release == expected)
            }
            store.simulator.turn { $0.versionState = nil }
            let none = try await Self.release(store)
            #expect(none == ClipRelease(isPublished: false, version: nil, state: nil))
        }
    }

    /// The service may refuse the parameter. The sites are known all the same.
    @Test func refusedIncludeLeavesPublicationUnknown() async throws {
        try await Store.lend { store in
            store.simulator.faults = [
                Fault(
                    .response(status: 400, code: "PARAMETER_ERROR.INVALID", retryAfter: nil), times: 1,
                    path: "/v1/builds")
            ]
            let builds = try await store.client.builds(
                bundleID: StoreFixture.clipBundleID, ofApp: StoreFixture.appID)
            #expect(builds.bundle != nil && builds.release == nil)
        }
    }

    private static func build(_ id: String, bundle: String, version: String?) -> String {
        let version = version.map { #"{"type":"appStoreVersions","id":"\#($0)"}"# } ?? "null"
        return """
            {"id":"\(id)","relationships":{"buildBundles":{"data":[{"id":"\(bundle)"}]},\
            "appStoreVersion":{"data":\(version)}}}
            """
    }

    private static func version(_ id: String, _ attributes: String) -> String {
        #"{"type":"appStoreVersions","id":"\#(id)","attributes":{\#(attributes)}}"#
    }

    /// The newest build is often for testers, while an older one is on the App Store.
    @Test(arguments: [
        (
            [build("2", bundle: "b", version: "new"), build("1", bundle: "b", version: "live")], "",
            ClipRelease(isPublished: true, version: "1.1", state: "READY_FOR_DISTRIBUTION")
        ),
        (
            [build("2", bundle: "b", version: "new"), build("1", bundle: "b", version: nil)], "",
            ClipRelease(isPublished: false, version: "1.2", state: "IN_REVIEW")
        ),
        // A version without the clip does not count.
        (
            [build("2", bundle: "b", version: nil), build("1", bundle: "app", version: "live")], "",
            ClipRelease(isPublished: false, version: nil, state: nil)
        ),
        (
            [build("1", bundle: "b", version: "sale")], "",
            ClipRelease(isPublished: true, version: "1.0", state: "READY_FOR_SALE")
        ),
        (
            [build("1", bundle: "b", version: "removed")], "",
            ClipRelease(isPublished: false, version: "0.9", state: "DEVELOPER_REMOVED_FROM_SALE")
        ),
        (
            [build("1", bundle: "b", version: "odd")], "",
            ClipRelease(isPublished: false, version: nil, state: nil)
        ),
        // There are older builds.
        (
            [build("2", bundle: "b", version: "new")], #","links":{"next":"https://example.com/next"}"#,
            ClipRelease(isPublished: nil, version: "1.2", state: "IN_REVIEW")
        ),
    ])
    func newestPublishedVersionCounts(builds: [String], links: String, expected: ClipRelease) async throws {
        let included = [
            #"{"type":"buildBundles","id":"b","attributes":{"bundleId":"a.Clip"}}"#,
            #"{"type":"buildBundles","id":"app","attributes":{"bundleId":"a"}}"#,
            Self.version("new", #""versionString":"1.2","appVersionState":"IN_REVIEW""#),
            Self.version(
                "live",
                #""versionString":"1.1","appVersionState":"READY_FOR_DISTRIBUTION","appStoreState":"READY_FOR_SALE""#
            ),
            Self.version("sale", #""versionString":"1.0","appStoreState":"READY_FOR_SALE""#),
            Self.version(
                "removed",
                #""versionString":"0.9","appVersionState":"READY_FOR_DISTRIBUTION","appStoreState":"DEVELOPER_REMOVED_FROM_SALE""#
            ),
            Self.version("odd", #""versionString":"1\n2","appVersionState":"A B""#),
        ]
        let document = """
            {"data":[\(builds.joined(separator: ","))],"included":[\(included.joined(separator: ","))]\(links)}
            """
        try await LocalWebServer.lend({ _ in .init(document) }) { server in
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let builds = try await client.builds(bundleID: "a.Clip", ofApp: "1")
                #expect(builds == ClipBuilds(bundle: "b", release: expected))
            }
        }
    }
}
