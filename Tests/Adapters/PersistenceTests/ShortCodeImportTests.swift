import Administration
import Invocation
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import Testing

@Suite struct ShortCodeImportTests {
    @Test func importCountsAddedChangedAndUnchangedRows() async throws {
        try await Stores.withTenant { stores, tenant in
            let first = try [ShortCode.sample("a"), .sample("b"), .sample("c")]
            #expect(try await stores.importShortCodes(first, of: tenant) == .done(3, 0, 0))
            #expect(try await stores.importShortCodes(first, of: tenant) == .done(0, 0, 3))
            let second = try [
                ShortCode.sample("a"), .sample("b", "https://example.com/other"), .sample("d"),
            ]
            #expect(try await stores.importShortCodes(second, of: tenant) == .done(1, 1, 1))
            #expect(
                try await stores.administration.shortCodes(of: tenant, after: nil, limit: 10)
                    == [second[0], second[1], first[2], second[2]])
        }
    }

    /// Two spellings of one URL are the same URL.
    @Test func canonicalURLsAreStored() async throws {
        try await Stores.withTenant { stores, tenant in
            let spellings = ["HTTPS://Example.com:443/a/?x=é#f", "https://example.com/a?x=%c3%a9#f"]
            #expect(
                try await stores.importShortCodes([.sample("a", spellings[0])], of: tenant) == .done(1, 0, 0))
            #expect(
                try await stores.importShortCodes([.sample("a", spellings[1])], of: tenant) == .done(0, 0, 1))
            let stored = try await stores.count(
                "SELECT count(*) FROM doorstep.short_codes WHERE url = 'https://example.com/a?x=%C3%A9#f'")
            #expect(stored == 1)
        }
    }

    /// COPY gives special meaning to some characters. Codes that only look alike are different codes.
    @Test func importKeepsEveryCharacter() async throws {
        try await Stores.withTenant { stores, tenant in
            let codes = [
                "\\N", "\\", "a\"b'c", "é", "e\u{301}", "日本", "\u{1F369}", "\\.", "a,b", "%_", "A", "a",
            ]
            let records = try codes.map { try ShortCode.sample($0) }
            #expect(try await stores.importShortCodes(records, of: tenant) == .done(codes.count, 0, 0))
            #expect(try await stores.importShortCodes(records, of: tenant) == .done(0, 0, codes.count))
            let stored = try await stores.administration.shortCodes(of: tenant, after: nil, limit: 99)
            #expect(Set(stored) == Set(records) && stored.count == records.count)
        }
    }

    @Test func shortCodesArePagedByCode() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importShortCodes(["é", "b", "a", "Z", "A"].map { try .sample($0) }, of: tenant)
            var pages: [[String]] = []
            var after: String?
            for _ in 0..<4 {
                let page = try await stores.administration.shortCodes(of: tenant, after: after, limit: 2)
                pages.append(page.map(\.code))
                after = page.last?.code ?? after
            }
            #expect(pages == [["A", "Z"], ["a", "b"], ["é"], []])
        }
    }

    @Test func duplicatesAreNamedByLineAndNothingIsImported() async throws {
        try await Stores.withTenant { stores, tenant in
            let kept = try ShortCode.sample("a")
            try await stores.importShortCodes([kept], of: tenant)
            let outcome = try await stores.importShortCodes(
                [
                    .sample("a", "https://example.com/other"), .sample("b"), .sample("a"), .sample("c"),
                    .sample("b"), .sample("a"),
                ], of: tenant)
            #expect(
                outcome.problems == [
                    "4: code: it is on line 2 already", "6: code: it is on line 3 already",
                    "7: code: it is on line 2 already",
                ])
            #expect(try await stores.administration.shortCodes(of: tenant, after: nil, limit: 9) == [kept])
        }
    }

    private static func importFile(
        _ text: String, into stores: Stores, of tenant: TenantID
    ) async throws -> ImportOutcome {
        let rest = Mutex([Array(text.utf8)])
        return try await stores.administration.importShortCodes(
            of: tenant, TableRows { rest.withLock { $0.popLast() } })
    }

    @Test func fileIsImportedWholeOrNotAtAll() async throws {
        try await Stores.withTenant { stores, tenant in
            let good = "url,code\nhttps://example.com/1,a\n"
            let refused = try await Self.importFile(
                good + "http://example.com/2,b\n", into: stores, of: tenant)
            #expect(
                refused.problems == [
                    "3: url: the URL must be https, with a domain name for a host and without a port"
                ])
            #expect(try await stores.administration.shortCodes(of: tenant, after: nil, limit: 9) == [])
            #expect(try await Self.importFile(good, into: stores, of: tenant) == .done(1, 0, 0))
        }
    }

    @Test func shortCodesAreIsolatedByTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.importShortCodes([.sample("a", "https://example.com/1")], of: tenant)
            #expect(
                try await stores.importShortCodes([.sample("a", "https://example.com/2")], of: other)
                    == .done(1, 0, 0))
            for (tenant, url) in [(tenant, "https://example.com/1"), (other, "https://example.com/2")] {
                let stored = try await stores.administration.shortCodes(of: tenant, after: nil, limit: 9)
                #expect(stored.map(\.url.canonical) == [url])
            }
        }
    }
}
