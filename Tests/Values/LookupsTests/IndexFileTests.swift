import Cards
import Foundation
import Invocation
import PropertyTesting
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct IndexFileTests {
    private static let tenant = TenantID(number: 1)
    private static let limits = RequestLimits(
        key: RateLimit(perSecond: 10, burst: 1_000_000), newInstances: RateLimit(perSecond: 7, burst: 8),
        clientNewInstances: RateLimit(perSecond: 5, burst: 6))
    private static let digest = [UInt8](repeating: 7, count: 32)
    private static let image = String(repeating: "0f", count: 32)
    /// `doorstep routing table 9` and its line feed.
    private static let signatureLength = 25

    /// One row of each relation.
    private static func small() throws -> LookupIndex {
        var table = LookupIndex()
        try table.set(
            .tenants,
            .tenant(
                tenant, isSuspended: true, limits: limits, name: "Té", corsOrigins: "https://a.b https://c.d")
        )
        try table.set(
            .clips,
            .clip(
                tenant, "a.b.c", isMultiBusiness: true, appIDPrefix: "OLDPREFIX1", appStoreID: "12",
                androidURL: "https://a.b/android", siteName: "Site",
                card: #"{"texts": {"JA": {"title": "た"}}, "action": "OPEN"}"#))
        try table.set(
            .keys,
            .key(
                tenant, KeyID(UUID(number: 1)), digest, expiresAt: 5_000_000, scopes: "confirm,lookup",
                locations: "l\nm"))
        try table.set(.domains, .domain(tenant, "a.b", content: #"{"a":1}"#, pages: .redirectingShortCodes))
        try table.set(
            .locations,
            .location(
                tenant, "l", name: "n", details: #"{"b": "2", "a": "é"}"#,
                card: #"{"defaultLanguage": "JA"}"#, cardImage: image))
        try table.set(
            .experiences,
            .experience(
                tenant, "default", "https://a.b/c?d", clip: "a.b.c", location: "l", subtitle: "s"))
        try table.set(.shortCodes, .shortCode(tenant, "s", "https://a.b"))
        return table
    }

    @Test func writtenTableRoundTrips() throws {
        let asOf = Date(timeIntervalSince1970: 1_800_000_000.5)
        let (table, time) = try LookupIndex.read(Self.small().fileBytes(asOf: asOf))
        #expect(time == asOf)
        #expect(table.tenantCount == 1)
        #expect(table.experienceCount == 1)
        #expect(table.locationCount == 1)
        let match = try #require(try table.of(Self.tenant).match(InvocationURL("https://a.b/c/e?d")))
        let experience = match.experience
        #expect(experience.url == "https://a.b/c?d")
        #expect(experience.clipIsMultiBusiness)
        #expect(try experience.binding == .location(LocationIdentifier("l")))
        let link = try InvocationURL("https://appclip.apple.com/id?p=a.b.c")
        #expect(table.of(Self.tenant).match(link)?.isByDefaultLink == true)
        let location = try #require(try table.of(Self.tenant).location(LocationIdentifier("l")))
        #expect(location.name == "n")
        #expect(location.details.json == Array(#"{"a":"é","b":"2"}"#.utf8))
        #expect(table.of(Self.tenant).url(ofShortCode: "s")?.canonical == "https://a.b")
        let holder = try #require(table.keyHolder(of: Self.digest, at: .year2000))
        #expect(holder.key == KeyID(UUID(number: 1)))
        #expect(holder.tenantIsSuspended)
        #expect(holder.limits == Self.limits)
        #expect(holder.scopes.list == [.lookup, .confirm])
        #expect(try holder.locations == [LocationIdentifier("l"), LocationIdentifier("m")])
        let expiry = Date.year2000.addingTimeInterval(5)
        #expect(table.keyHolder(of: Self.digest, at: expiry) == nil)
        let site = try #require(table.site(ofHost: "a.b"))
        #expect(
            site.clips.map { "\($0.teamID) \($0.appIDPrefix) \($0.parentBundleID)" } == [
                "ABCDE12345 OLDPREFIX1 a.b"
            ])
        #expect(site.content == #"{"a":1}"#)
        let host = try #require(table.provedHost("a.b"))
        #expect(host.pages == .redirectingShortCodes && host.tenantName == "Té" && host.tenantIsSuspended)
        let shown = table.of(Self.tenant).presentation(of: experience, at: location)
        #expect(shown.title == "た" && shown.subtitle == "s" && shown.language == .japanese)
        #expect(shown.image?.description == Self.image)
        #expect(shown.appStoreID == "12" && shown.androidURL == "https://a.b/android")
        #expect(shown.siteName == "Site")
        #expect(site.urls == ["https://a.b/c?d"])
    }

    @Test func emptyTableRoundTrips() throws {
        let table = try LookupIndex().fileBytes().reread()
        #expect(table.tenantCount == 0)
        #expect(table.experienceCount == 0)
    }

    @Test func rowsOfDeletedTenantAreNotWritten() throws {
        var table = try Self.small()
        table.remove(.tenants, of: Self.tenant, key: [])
        #expect(table.fileBytes() == LookupIndex().fileBytes())
    }

    @Test func tableOfManyBlocksRoundTrips() throws {
        var table = try Self.small()
        for number in 0..<3_000 {
            try table.set(
                .experiences,
                .experience(Self.tenant, "advanced", "https://example.com/\(number)?n=\(number)"))
            try table.set(.locations, .location(Self.tenant, "\(number)", name: "Place \(number)"))
        }
        let pieces = table.filePieces()
        #expect(pieces.count > 4)
        #expect(pieces.dropLast().allSatisfy { $0.count == 65_536 })
        let reread = try Array(pieces.joined()).reread()
        #expect(reread.experienceCount == 3_001)
        #expect(reread.locationCount == 3_001)
        for number in stride(from: 0, to: 3_000, by: 7) {
            let url = try InvocationURL("https://example.com/\(number)/x?a&n=\(number)")
            let match = try #require(reread.of(Self.tenant).match(url))
            #expect(match.experience.url == "https://example.com/\(number)?n=\(number)")
            let identifier = try LocationIdentifier("\(number)")
            #expect(reread.of(Self.tenant).location(identifier)?.name == "Place \(number)")
        }
        var damaged = Array(pieces.joined())
        damaged[100_000] ^= 1
        #expect(throws: LookupIndexError.damagedFile) { try damaged.reread() }
    }

    /// Files that end exactly at the end of a block, with and without their checksum, and files that are one byte longer or
    /// shorter.
    @Test(arguments: [65_535, 65_536, 65_537, 131_072].flatMap { [$0, $0 + 8] })
    func fileAtBlockBoundaryRoundTrips(_ length: Int) throws {
        var table = try Self.small()
        var number = 0
        let longest = "https://a.b/" + String(repeating: "x", count: 1_900)
        while table.fileBytes().count < length - 4_000 {
            try table.set(.shortCodes, .shortCode(Self.tenant, "\(number)", longest))
            number += 1
        }
        try table.set(.shortCodes, .shortCode(Self.tenant, "first", "https://a.b/"))
        let half = (length - table.fileBytes().count) / 2
        let first = "https://a.b/" + String(repeating: "y", count: half)
        try table.set(.shortCodes, .shortCode(Self.tenant, "first", first))
        try table.set(.shortCodes, .shortCode(Self.tenant, "last", "https://a.b/"))
        let rest = length - table.fileBytes().count
        let last = "https://a.b/" + String(repeating: "z", count: rest)
        try table.set(.shortCodes, .shortCode(Self.tenant, "last", last))

        let bytes = table.fileBytes()
        #expect(bytes.count == length)
        let reread = try bytes.reread()
        #expect(reread.of(Self.tenant).url(ofShortCode: "first")?.canonical == first)
        #expect(reread.of(Self.tenant).url(ofShortCode: "last")?.canonical == last)
        #expect(throws: LookupIndexError.damagedFile) { try bytes.dropLast().reread() }
        #expect(throws: LookupIndexError.damagedFile) { try (bytes + [0]).reread() }
    }

    @Test func flippedBitIsDetected() throws {
        let bytes = try Self.small().fileBytes()
        for index in bytes.indices {
            for bit in 0..<8 as Range<UInt8> {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                let expected: LookupIndexError =
                    index < Self.signatureLength ? .notALookupIndex : .damagedFile
                #expect(throws: expected, "bit \(bit) of byte \(index)") { try damaged.reread() }
            }
        }
    }

    @Test func truncationIsDetected() throws {
        let bytes = try Self.small().fileBytes()
        for length in bytes.indices {
            let expected: LookupIndexError = length < Self.signatureLength ? .notALookupIndex : .damagedFile
            #expect(throws: expected, "\(length) bytes") { try Array(bytes[..<length]).reread() }
        }
    }

    /// An attacker can write a valid checksum. Such a file may be refused or read, but must not crash the reader.
    @Test func damageUnderValidChecksumDoesNotCrash() throws {
        let bytes = try Self.small().fileBytes()
        #expect(bytes.withChecksum() == bytes)
        var refused = 0
        for index in Self.signatureLength..<bytes.count - 8 {
            for bit in 0..<8 as Range<UInt8> {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                do throws(LookupIndexError) { _ = try damaged.withChecksum().reread() } catch { refused += 1 }
            }
            let cut = Array(bytes[..<index]) + [UInt8](repeating: 0, count: 8)
            #expect(throws: LookupIndexError.self, "cut at \(index)") { try cut.withChecksum().reread() }
        }
        #expect(refused > 1_000)
    }

    @Test func trailingBytesAreRejected() throws {
        let bytes = try Self.small().fileBytes()
        let longer = Array(bytes.dropLast(8)) + [UInt8](repeating: 0, count: 9)
        #expect(throws: LookupIndexError.damagedFile) { try longer.withChecksum().reread() }
    }

    @Test func otherSignatureIsRejected() throws {
        for format in [8, 10] {
            let other =
                Array("doorstep routing table \(format)\n".utf8)
                + (try Self.small().fileBytes()[Self.signatureLength...])
            #expect(throws: LookupIndexError.notALookupIndex) { try other.withChecksum().reread() }
        }
        #expect(throws: LookupIndexError.notALookupIndex) { try [].reread() }
        #expect(throws: LookupIndexError.notALookupIndex) { try Array("{}".utf8).reread() }
    }

    @Test func outputErrorIsRethrown() throws {
        struct DiskIsFull: Error {}
        let table = try Self.small()
        #expect(throws: DiskIsFull.self) { try table.write(asOf: .year2000) { _ in throw DiskIsFull() } }
    }
}
