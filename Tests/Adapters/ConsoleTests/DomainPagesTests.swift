import Administration
import Foundation
import HTTPTestClient
import HTTPTypes
import Lookups
import Persistence
import Tenancy
import TestSupport
import Testing

@testable import Console

@Suite struct DomainPagesTests {
    private func domain(_ console: TestConsole) async throws -> DomainRecord? {
        try await console.store.items.domains.item(DomainName("example.com"), of: console.acme.id)
    }

    @Test func domainIsClaimedProvedAndShown() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let claim = try await console.post("/t/acme/domains", ["host": "Example.com"], cookie)
            #expect(claim.headers[.location] == "/t/acme/domains/example.com")
            let record = try #require(try await domain(console))
            let page = try await console.get("/t/acme/domains/example.com", cookie).text
            for text in [record.recordName, record.recordValue, record.fileURL, record.challenge] {
                #expect(page.contains(text) && page.contains("data-copy=\"\(text)\""))
            }
            #expect(page.contains("doorstep domain verify --tenant acme example.com"))

            let early = try await console.post("/t/acme/domains/example.com/verify", [:], cookie)
            #expect(early.status == .ok && early.text.contains("No response, so nothing was changed"))
            console.records.publish(record)
            let proved = try await console.post("/t/acme/domains/example.com/verify", [:], cookie)
            #expect(proved.headers[.location] == "/t/acme/domains/example.com?done=proved")
            #expect(try await domain(console)?.status == .proved)

            let pages = try await console.post("/t/acme/domains/example.com/pages", ["pages": "on"], cookie)
            #expect(pages.status == .seeOther)
            #expect(try await domain(console)?.pages == .on)
            #expect(
                try await console.post("/t/acme/domains/example.com/pages", ["pages": "x"], cookie).status
                    == .badRequest)
            // A repeated claim keeps its challenge.
            _ = try await console.post("/t/acme/domains", ["host": "example.com"], cookie)
            #expect(try await domain(console)?.challenge == record.challenge)
        }
    }

    @Test func lapsedDomainShowsHowLongItIsServed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let now = Date()
            let items = TenantItems(console.store.items.domains, of: console.acme.id, by: "operator:test")
            let name = try DomainName("example.com")
            _ = try await items.claim(DomainRecord(name: name, challenge: "c", claimedAt: now))
            _ = try await items.update(name) {
                $0.proved(by: .dns, at: now).lapsed(at: now.addingTimeInterval(-86_400 + 1_800))
            }
            let page = try await console.get("/t/acme/domains/example.com", cookie).text
            #expect(page.contains("lapsed</span>") && page.contains("6 days and 0 hours more"))
            #expect(try await console.get("/t/acme/domains", cookie).text.contains("6 days and 0 hours more"))
        }
    }

    @Test(arguments: ["", "localhost", "192.0.2.1", "a b", "https://example.com", "*.example.com"])
    func invalidDomainIsRejected(_ host: String) async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let response = try await console.post("/t/acme/domains", ["host": host], cookie)
            #expect(response.status == .unprocessableContent && response.text.contains("host-error"))
        }
    }

    @Test func liveSiteCheckShowsEachPointOnRequest() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.post("/t/acme/domains", ["host": "example.com"], cookie)
            #expect(
                try await !console.get("/t/acme/domains/example.com", cookie).text.contains("not swapped"))
            let page = try await console.post("/t/acme/domains/example.com/check", [:], cookie).text
            for point in SiteCheck.Point.allCases {
                #expect(page.contains(point.rawValue.replacing("_", with: " ")))
            }
            #expect(page.contains("nobody answers"))
        }
    }

    /// The table of the test has the domain proved for `other`.
    @Test func siteAssociationIsShownOnlyToTheProvingTenant() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            for slug in ["acme", "other"] {
                _ = try await console.post("/t/\(slug)/domains", ["host": "proved.example.com"], cookie)
            }
            let acme = try await console.get("/t/acme/domains/proved.example.com", cookie).text
            #expect(acme.contains("until the domain is proved"))
            let other = try await console.get("/t/other/domains/proved.example.com", cookie).text
            #expect(other.contains("&quot;appclips&quot;"))
        }
    }
}
