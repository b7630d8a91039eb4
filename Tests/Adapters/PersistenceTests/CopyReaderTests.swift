import AppAttest
import Crypto
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import PostgreSQL
import Tenancy
import Testing
import ValueFixtures

/// Reads the output of `COPY (SELECT …) TO … (FORMAT binary)`, recorded from PostgreSQL 15. Its pieces are the header, each row and the
/// trailer.
@Suite struct CopyReaderTests {
    private static let header = "5047434f50590aff0d0a00 00000000 00000000"
    private static let trailer = "ffff"
    private static let tenant = "00000010 6f1c2a340b5d4e6f8a90123456789abc"
    private static let clip = "00000016 636f6d2e6578616d706c652e4d794170702e436c6970"

    private static let rows: [IndexRelation: [String]] = [
        .tenants: [
            """
            000c \(tenant) 00000001 00 00000008 000000000000000a 00000008 0000000000000014 ffffffff ffffffff \
            ffffffff ffffffff ffffffff ffffffff 00000001 41 00000000
            """,
            """
            000c 00000010 00000000000000000000000000000001 00000001 01 ffffffff ffffffff \
            00000008 0000000000000001 00000008 00000000000f4240 00000008 0000000000000002 00000008 0000000000000003 \
            ffffffff ffffffff 00000001 42 00000000
            """,
        ],
        .clips: [
            """
            000c \(tenant) \(clip) 00000001 01 0000000a 41424344453132333435 \
            00000011 636f6d2e6578616d706c652e4d79417070 0000000a 4f4c44505245464958 31 \
            00000016 7b22636f6e6669726d223a202272657175697265227d \
            ffffffff ffffffff ffffffff ffffffff ffffffff
            """
        ],
        .domains: ["0004 \(tenant) 0000000b 6578616d706c652e636f6d ffffffff 00000003 6f6666"],
        .keys: [
            """
            0007 \(tenant) 00000010 11111111222233334444555555555555 00000006 736563726574 \
            00000020 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed \
            00000008 000303c6de6d6090 0000000e 6c6f6f6b75702c636f6e6669726d \
            00000003 610a62
            """,
            """
            0007 \(tenant) 00000010 11111111222233334444666666666666 0000000b 7075626c69736861626c65 \
            00000020 3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3 ffffffff \
            00000017 6c6f6f6b75702c636f6e6669726d2c7265676973746572 ffffffff
            """,
        ],
        .locations: [
            """
            0009 \(tenant) 00000005 636166c3a9 00000005 436166c3a9 00000008 40486da5119ce076 \
            00000008 c004000000000000 00000008 405e200000000000 \
            0000000e 7b2270686f6e65223a202231227d ffffffff ffffffff
            """
        ],
        .experiences: [
            """
            000a \(tenant) 00000008 616476616e636564 \
            00000018 68747470733a2f2f6578616d706c652e636f6d2f6d656e75 \(clip) 00000005 636166c3a9 ffffffff \
            ffffffff ffffffff ffffffff ffffffff
            """,
            """
            000a \(tenant) 00000007 64656661756c74 \
            00000019 68747470733a2f2f6578616d706c652e636f6d2f743f6e3d31 \(clip) ffffffff \
            00000006 706174683a31 ffffffff ffffffff ffffffff ffffffff
            """,
            """
            000a \(tenant) 00000004 64656d6f 00000013 68747470733a2f2f6578616d706c652e6f7267 \(clip) \
            ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff
            """,
        ],
        .shortCodes: [
            """
            0003 \(tenant) 00000002 7837 \
            0000001f 68747470733a2f2f6578616d706c652e636f6d2f6d656e753f6c6f6e673d31
            """
        ],
        // SHA-256 of "one".
        .revokedAttestKeys: [
            "0002 \(tenant) 00000020 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
        ],
    ]

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { (index: Int) -> UInt8 in
            UInt8(digits[index] * 16 + digits[index + 1])
        }
    }

    /// The rows in the format of the fuzzer's target `table`: each relation ends with the trailer, and there are no headers.
    private static var seedOfFuzzer: [UInt8] {
        IndexRelation.allCases.flatMap { bytes(((rows[$0] ?? []) + [trailer]).joined()) }
    }

    private static func pieces(_ relation: IndexRelation) -> [[UInt8]] {
        ([header] + (rows[relation] ?? []) + [trailer]).map(bytes)
    }

    private static func read(
        _ pieces: [[UInt8]], _ relation: IndexRelation, into table: inout LookupIndex
    ) throws -> Int {
        var reader = BinaryCopyReader(columnCount: relation.columns.count)
        var count = 0
        for piece in pieces {
            try reader.read(piece) { fields in
                try table.set(relation, IndexRow(bytes: piece, fields: fields))
                count += 1
            }
        }
        return count
    }

    private static func check(_ table: LookupIndex) throws {
        let tenant = TenantID(try #require(UUID(uuidString: "6f1c2a34-0b5d-4e6f-8a90-123456789abc")))
        #expect(table.tenantCount == 2)
        func experience(_ url: String) throws -> IndexedExperience {
            try #require(try table.of(tenant).match(InvocationURL(url))).experience
        }
        let menu = try experience("https://example.com/menu/x")
        #expect(menu.kind == .advanced)
        #expect(menu.clip.text == "com.example.MyApp.Clip")
        #expect(menu.clipIsMultiBusiness)
        #expect(try menu.binding == .location(LocationIdentifier("caf\u{E9}")))
        #expect(try experience("https://example.com/t?n=1").binding == .rule(IdentifierRule("path:1")))
        #expect(try experience("https://example.org").binding == .unbound)

        let location = try #require(try table.of(tenant).location(LocationIdentifier("caf\u{E9}")))
        #expect(location.name == "Caf\u{E9}")
        #expect(location.region.center.latitude == 48.8566)
        #expect(location.region.center.longitude == -2.5)
        #expect(location.region.radius.meters == 120.5)
        #expect(location.details.texts == ["phone": "1"])
        #expect(
            table.of(tenant).url(ofShortCode: "x7")?.canonical == "https://example.com/menu?long=1")

        let site = try #require(table.site(ofHost: "example.com"))
        #expect(site.tenant == tenant)
        #expect(
            site.clips.map { "\($0.teamID) \($0.appIDPrefix).\($0.bundleID) \($0.parentBundleID)" } == [
                "ABCDE12345 OLDPREFIX1.com.example.MyApp.Clip com.example.MyApp"
            ])
        #expect(site.content == nil)
        #expect(
            Set(site.urls ?? []) == ["https://example.com/menu", "https://example.com/t?n=1"])

        let clip = try #require(try table.of(tenant).attestedClip(BundleID("com.example.MyApp.Clip")))
        #expect(clip.appID.text == "OLDPREFIX1.com.example.MyApp")
        #expect(clip.attestation == ClipAttestation(confirm: .require))
        #expect(table.of(tenant).isRevoked(attestKey: Array(SHA256.hash(data: Array("one".utf8)))))
        #expect(!table.of(tenant).isRevoked(attestKey: Array(SHA256.hash(data: Array("two".utf8)))))

        // SHA-256 of "one" and "two"; the first expires at 2026-11-21 12:00:00.25 UTC.
        let one = bytes("7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
        let two = bytes("3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3")
        let noon = Date(timeIntervalSince1970: 1_795_262_400)
        let holder = try #require(table.keyHolder(of: one, at: noon))
        #expect(holder.kind == .secret && holder.scopes.list == [.lookup, .confirm])
        #expect(try holder.locations == [LocationIdentifier("a"), LocationIdentifier("b")])
        #expect(holder.limits == RequestLimits(key: RateLimit(perSecond: 10, burst: 20)))
        #expect(table.keyHolder(of: one, at: noon.addingTimeInterval(0.25)) == nil)
        #expect(table.keyHolder(of: two, at: .distantFuture)?.scopes == KeyKind.publishable.scopes)
    }

    @Test func copyInOnePieceIsRead() throws {
        var table = LookupIndex()
        for relation in IndexRelation.allCases {
            let pieces = Self.pieces(relation)
            #expect(try Self.read([Array(pieces.joined())], relation, into: &table) == pieces.count - 2)
        }
        try Self.check(table)
    }

    @Test func copyCutBetweenRowsIsRead() throws {
        var table = LookupIndex()
        for relation in IndexRelation.allCases {
            let pieces = Self.pieces(relation)
            #expect(try Self.read(pieces, relation, into: &table) == pieces.count - 2)
        }
        try Self.check(table)
    }

    /// libpq returns the header together with the first row, and the trailer alone.
    @Test func headerWithFirstRowIsRead() throws {
        var table = LookupIndex()
        for relation in IndexRelation.allCases {
            let pieces = Self.pieces(relation)
            let asSent = [pieces[0] + pieces[1]] + pieces[2...]
            #expect(try Self.read(asSent, relation, into: &table) == pieces.count - 2)
        }
        try Self.check(table)
    }

    /// After a change of a relation's columns, correct `rows`, and remake the seed:
    /// `DOORSTEP_SEED_DUMP=Tests/FuzzTargetsTests/Seeds/table/all deploy/swift test --filter seedOfFuzzerHasTheseRows`
    @Test func seedOfFuzzerHasTheseRows() throws {
        if let path = ProcessInfo.processInfo.environment["DOORSTEP_SEED_DUMP"] {
            try Data(Self.seedOfFuzzer).write(to: URL(fileURLWithPath: path))
        }
        let seed = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../FuzzTargetsTests/Seeds/table/all")
        #expect(
            try Array(Data(contentsOf: seed)) == Self.seedOfFuzzer,
            "The seed is stale. The comment of this test shows the command that remakes it.")
    }

    @Test func copyWithoutRowsIsRead() throws {
        var table = LookupIndex()
        let bytes = Self.bytes(Self.header + Self.trailer)
        #expect(try Self.read([bytes], .clips, into: &table) == 0)
    }

    @Test func headerExtensionIsSkipped() throws {
        var table = LookupIndex()
        let bytes = Self.bytes("5047434f50590aff0d0a00 00000000 00000003 aabbcc ffff")
        #expect(try Self.read([bytes], .clips, into: &table) == 0)
    }

    @Test(arguments: [
        ("nothing", [""]),
        ("another signature", ["5047434f50590aff0d0d00 00000000 00000000 ffff"]),
        ("text", ["636c6970 ffff"]),
        ("a signature cut off", ["5047434f50590aff0d0a00 000000"]),
        ("an unknown critical flag", ["5047434f50590aff0d0a00 00010000 00000000 ffff"]),
        ("an extension longer than the piece", ["5047434f50590aff0d0a00 00000000 00000003 ffff"]),
        ("an extension below 0", ["5047434f50590aff0d0a00 00000000 fffffffc ffff"]),
        ("half a field count", [header, "00"]),
        ("another field count", [header, "0002 00000000 00000000"]),
        ("a field count below −1", [header, "fffe"]),
        ("fields missing", [header, "0003 00000000 00000000"]),
        ("half a length", [header, "0003 0000"]),
        ("a length below −1", [header, "0003 fffffffe 00000000 00000000"]),
        ("a field beyond the end", [header, "0003 00000000 00000000 00000001"]),
        ("a field of 2 GiB", [header, "0003 00000000 00000000 7fffffff 00"]),
        ("bytes after the trailer", [header, "ffff 00"]),
        ("a row after the trailer", [header, "ffff", "0003 00000000 00000000 00000000"]),
        ("a second header", [header, header]),
    ])
    func damagedCopyIsRejected(_ name: String, _ pieces: [String]) {
        var reader = BinaryCopyReader(columnCount: 3)
        #expect(throws: PostgreSQLError.malformedCopy, "\(name)") {
            for piece in pieces { try reader.read(Self.bytes(piece)) { _ in } }
        }
    }

    /// The reader detects a cut within a row. A cut between rows is an error that libpq reports.
    @Test func copyCutWithinARowIsRejected() throws {
        let pieces = Self.pieces(.experiences)
        let bytes = Array(pieces.joined())
        var ends: Set<Int> = []
        var end = 0
        for piece in pieces {
            end += piece.count
            ends.insert(end)
        }
        for length in bytes.indices where !ends.contains(length) {
            var table = LookupIndex()
            #expect(throws: PostgreSQLError.malformedCopy, "\(length) bytes") {
                try Self.read([Array(bytes[..<length])], .experiences, into: &table)
            }
        }
    }

    @Test func errorOfTheClosureIsRethrown() {
        var reader = BinaryCopyReader(columnCount: IndexRelation.clips.columns.count)
        let bytes = Array(Self.pieces(.clips).joined())
        #expect(throws: LookupIndexError.unreadableRow(.clips)) {
            try reader.read(bytes) { _ in throw LookupIndexError.unreadableRow(.clips) }
        }
    }
}
