import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import Tenancy
import Testing
import ValueFixtures

@Suite struct TableFileTests {
    /// Runs the closure with a path in a new folder.
    private static func withPath(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.appendingPathComponent("table").path)
    }

    private static func files(beside path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    private static func state(
        _ tenant: TenantID = TenantID(UUID()), locations: Int = 1,
        asOf: Date = Date(timeIntervalSince1970: 1_800_000_000.25)
    ) throws -> LiveLookupIndex.State {
        var table = LookupIndex()
        try table.set(.tenants, .tenant(tenant))
        for number in 0..<locations {
            try table.set(.locations, .location(tenant, "l\(number)", name: "é", radius: 3))
        }
        let live = LiveLookupIndex()
        live.replace(by: table, from: .database, asOf: asOf)
        return try #require(live.current)
    }

    @Test func writtenFileIsReadBack() throws {
        try Self.withPath { path in
            let (file, tenant) = (TableFile(path: path), TenantID(UUID()))
            #expect(try file.read() == nil)
            // The index is longer than one block.
            let state = try Self.state(tenant, locations: 3_000)
            try file.write(state)
            let (table, asOf) = try #require(try file.read())
            #expect(asOf == state.asOf && table.locationCount == 3_000)
            let found = try table.of(tenant).location(LocationIdentifier("l2999"))
            #expect(found?.name == "é" && found?.region.radius.meters == 3)

            // A shorter index replaces the file. Nothing of the longer one remains.
            try file.write(Self.state(asOf: state.asOf + 1))
            let second = try #require(try file.read())
            #expect(second.asOf == state.asOf + 1 && second.table.locationCount == 1)
            #expect(second.table.of(tenant).location(try LocationIdentifier("l2999")) == nil)
            #expect(try Self.files(beside: path) == ["table"])
        }
    }

    @Test func fileIsReadableOnlyByItsOwner() throws {
        try Self.withPath { path in
            let file = TableFile(path: path)
            // Neither the mode of an existing file nor the umask makes the new file readable for others.
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o644]))
            try file.write(Self.state())
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(arguments: [0o620, 0o602, 0o666, 0o640, 0o600]) func fileWritableByOthersIsRejected(
        mode: Int
    ) throws {
        try Self.withPath { path in
            let file = TableFile(path: path)
            try file.write(Self.state())
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            guard mode & 0o022 != 0 else {
                #expect(try file.read() != nil)
                return
            }
            #expect(throws: PersistenceError.exposedFile(path)) { try file.read() }
            // The next write replaces the file.
            try file.write(Self.state())
            #expect(try file.read() != nil)
        }
    }

    @Test func tooOldFileIsRejected() throws {
        try Self.withPath { path in
            let asOf = Date(timeIntervalSince1970: 1_800_000_000)
            let file = TableFile(path: path, maximumAge: .seconds(3_600))
            try file.write(Self.state(asOf: asOf))
            #expect(try file.read(at: asOf + 3_600) != nil)
            #expect(throws: PersistenceError.outdatedFile(path, asOf: asOf)) {
                try file.read(at: asOf + 3_601)
            }
            #expect(try TableFile(path: path).read(at: asOf + 1_000_000_000) != nil)
        }
    }

    /// Otherwise the file of an unchanged catalogue would become too old although the database still responds.
    @Test func unchangedIndexIsRewrittenPeriodically() throws {
        let live = LiveLookupIndex()
        let asOf = Date(timeIntervalSince1970: 1_800_000_000)
        live.replace(by: LookupIndex(), from: .database, asOf: asOf)
        let saved = try #require(live.current)
        #expect(TableFile.isDue(saved, after: nil))
        live.confirm(asOf: asOf + 899)
        #expect(try !TableFile.isDue(#require(live.current), after: saved))
        live.confirm(asOf: asOf + 900)
        #expect(try TableFile.isDue(#require(live.current), after: saved))
        live.replace(by: LookupIndex(), from: .database, asOf: asOf)
        #expect(try TableFile.isDue(#require(live.current), after: saved))
    }

    @Test func failedWriteLeavesTheOldFile() throws {
        try Self.withPath { path in
            let tenant = TenantID(UUID())
            try TableFile(path: path).write(Self.state(tenant))
            // A file cannot replace a folder.
            let directory = path + "-directory"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            #expect(throws: CocoaError.self) { try TableFile(path: directory).write(Self.state()) }
            #expect(try Self.files(beside: path).sorted() == ["table", "table-directory"])
            #expect(try TableFile(path: path).read()?.table.tenantCount == 1)
        }
    }

    /// The temporary path may be a leftover of a killed process, or an attacker's link.
    @Test func writeDoesNotFollowLinkAtTemporaryPath() throws {
        try Self.withPath { path in
            let victim = path + "-victim"
            try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
            let unfinished = "\(path).\(ProcessInfo.processInfo.processIdentifier).unfinished"
            try FileManager.default.createSymbolicLink(atPath: unfinished, withDestinationPath: victim)
            try TableFile(path: path).write(Self.state())
            #expect(FileManager.default.contents(atPath: victim) == Data("kept".utf8))
            #expect(try TableFile(path: path).read()?.table.locationCount == 1)
            #expect(try Self.files(beside: path).sorted() == ["table", "table-victim"])
        }
    }

    @Test func damagedFileIsRejected() throws {
        try Self.withPath { path in
            let file = TableFile(path: path)
            try file.write(Self.state(locations: 10))
            let whole = try #require(FileManager.default.contents(atPath: path))
            var flipped = whole
            flipped[whole.count / 2] ^= 1
            for (bytes, error) in [
                (flipped, LookupIndexError.damagedFile), (whole.dropLast(), .damagedFile),
                (whole + Data([0]), .damagedFile), (Data(), .notALookupIndex),
                (Data("x".utf8), .notALookupIndex),
            ] {
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                #expect(throws: error) { try file.read() }
            }
            // The next write replaces the file.
            try file.write(Self.state())
            #expect(try file.read() != nil)
        }
    }

    @Test func missingDirectoryIsAWriteError() throws {
        try Self.withPath { path in
            let file = TableFile(path: path + "/none/table")
            let saved = try file.read()
            #expect(saved == nil)
            let error = #expect(throws: CocoaError.self) { try file.write(Self.state()) }
            #expect(error?.filePath?.hasPrefix(path + "/none/table.") == true)
            #expect((error?.underlying as? POSIXError)?.code == .ENOENT)
        }
    }
}
