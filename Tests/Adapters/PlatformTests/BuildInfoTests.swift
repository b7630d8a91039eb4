import Testing

@testable import Platform

@Suite struct BuildInfoTests {
    @Test func unknownDateIsNotShown() {
        let known = BuildInfo(version: "1.2.3", commit: "521a87eb", date: "2026-11-26", swift: "6.3")
        #expect(known.description == "1.2.3 (commit 521a87eb of 2026-11-26, Swift 6.3)")
        let unknown = BuildInfo(version: "1.2.3", commit: "unknown", date: "unknown", swift: "6.3")
        #expect(unknown.description == "1.2.3 (commit unknown, Swift 6.3)")
    }
}
