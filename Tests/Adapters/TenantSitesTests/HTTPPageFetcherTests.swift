import Administration
import Formats
import LocalServers
import OutboundHTTP
import Synchronization
import TenantSites
import Testing

@Suite(.timeLimit(.minutes(30))) struct HTTPPageFetcherTests {
    private static let local = OutboundClient.Settings(
        allowed: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) })

    @Test func responseIsReturnedAsPage() async throws {
        let page = try await LocalWebServer.lend({ request in
            LocalWebServer.Page(
                "path \(request.path)", status: 302,
                headers: [("Content-Type", "text/plain"), ("Location", "/other")])
        }) { server in
            try await OutboundClient.withClient(Self.local) { client in
                try await HTTPPageFetcher(client).fetch("http://127.0.0.1:\(server.port)/page", limit: 8)
            }
        }
        #expect(
            page
                == Page(
                    status: 302, contentType: "text/plain", location: "/other", body: Array("path /pa".utf8),
                    isCutOff: true))
    }

    /// The operator who names the site gets the library's error.
    @Test func connectionErrorIsReportedInDetail() async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(over: certificate, { _ in .init("") }) { server in
                let error = await #expect(throws: NoResponse.self) {
                    try await OutboundClient.withClient(Self.local) {
                        try await HTTPPageFetcher($0).fetch("https://localhost:\(server.port)/", limit: 8)
                    }
                }
                #expect(error?.reason.contains("CERTIFICATE_VERIFY_FAILED") == true)
            }
        }
    }

    /// The rules for requests that look for proofs and check sites.
    @Test(arguments: LocalWebServer.hostsThatAreNotPublic)
    func nonPublicHostsAreNotContacted(host: String) async throws {
        let asked = Mutex(0)
        try await LocalWebServer.lend({ _ in
            asked.withLock { $0 += 1 }
            return .init("secret")
        }) { server in
            try await OutboundClient.withClient { client in
                for scheme in ["http", "https"] {
                    let error = await #expect(throws: NoResponse.self, "\(scheme)") {
                        try await HTTPPageFetcher(client).fetch(
                            "\(scheme)://\(host):\(server.port)/", limit: 8)
                    }
                    let reason = error?.reason ?? ""
                    #expect(
                        reason.contains("is neither public") || reason.contains("no address"), "\(reason)")
                }
            }
        }
        #expect(asked.withLock { $0 } == 0)
    }
}
