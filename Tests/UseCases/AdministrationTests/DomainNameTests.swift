import Foundation
import Testing

@testable import Administration

@Suite struct DomainNameTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("Shop.Example.COM", "shop.example.com"),
        ("example.com.", "example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("_x.example.com", "_x.example.com"),
    ])
    func domainNameIsCanonicalized(text: String, expected: String) throws {
        #expect(try DomainName(text).text == expected)
    }

    @Test(arguments: [
        "", " ", "localhost", "https://example.com", "example.com/", "example.com/a", "example.com:443",
        "example.com?a", "example.com#a", "me@example.com", "*.example.com", "127.0.0.1", "0x7f000001.1",
        "[::1]",
        "a..b", "-a.example", "a b.example", String(repeating: "a.", count: 127) + "bb", "exa\u{0}mple.com",
    ])
    func invalidDomainNameIsRejected(text: String) {
        let error = #expect(throws: AdministrationError.self) { try DomainName(text) }
        #expect(error?.code == "invalid_domain")
    }

    @Test func nonASCIIDomainErrorNamesALabel() {
        let error = #expect(throws: AdministrationError.self) { try DomainName("bücher.example") }
        #expect(error?.description == "write the domain as xn--bcher-kva.example")
    }

    @Test func challengeIs32RandomLettersAndDigits() {
        let challenges = (0..<100).map { _ in DomainRecord.makeChallenge() }
        #expect(Set(challenges).count == 100)
        #expect(challenges.allSatisfy { $0.wholeMatch(of: /[a-z0-9]{32}/) != nil })
    }

    @Test func statusFollowsProofAndLapse() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let proof = DomainRecord.Proof(method: .dns, provedAt: now)
        for (proof, lapsedAt, status) in [
            (nil, nil, .claimed), (proof, nil, .proved), (proof, now, .lapsed), (nil, now, .withdrawn),
        ] as [(DomainRecord.Proof?, Date?, DomainRecord.Status)] {
            let record = DomainRecord(
                name: try DomainName("example.com"), challenge: "c", claimedAt: now, proof: proof,
                checkedAt: nil,
                lapsedAt: lapsedAt)
            #expect(record.status == status)
            #expect(record.withdrawnFrom == (status == .lapsed ? now.addingTimeInterval(604_800) : nil))
        }
    }
}
