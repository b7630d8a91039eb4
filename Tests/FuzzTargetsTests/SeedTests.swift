import Administration
import AppAttest
import Foundation
import Testing

@testable import FuzzTargets

/// Reads the seeds of all targets. Inputs that once stopped a target are seeds, too.
@Suite struct SeedTests {
    private static let folder = Bundle.module.url(forResource: "Seeds", withExtension: nil)

    private static func seeds(of target: String) throws -> [URL] {
        let folder = try #require(folder).appendingPathComponent(target)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func seedIsReadWithoutCrash(name: String) async throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try Self.seeds(of: name)
        #expect(!seeds.isEmpty)
        for seed in seeds {
            let bytes = Array(try Data(contentsOf: seed))
            #expect(bytes.count <= target.maximumLength, "\(seed.lastPathComponent)")
            switch target.body {
            case .synchronous(let body): body(bytes)
            case .asynchronous(let body): await body(bytes)
            }
        }
    }

    private static func seed(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: #require(folder).appendingPathComponent(path)))
    }

    private func expectRows<Reader: RowReader>(
        _ count: Int, refused: Int = 0, in path: String, by reader: Reader
    ) throws where Reader.Row: Hashable {
        let content = FileContent(of: [try Self.seed(path)], by: reader)
        #expect(content.refusal == nil, "\(path)")
        #expect(content.rows.count == count, "\(path) is stale: \(content.problems)")
        #expect(content.problems.count == refused, "\(path): \(content.problems)")
    }

    // After a change of columns or fields, a stale seed is refused at its first bytes. The fuzzer then no longer reaches the code behind
    // them.

    @Test(arguments: ["all", "empty"]) func tableSeedHasCurrentColumns(name: String) throws {
        let bytes = try Self.seed("table/\(name)")
        #expect(
            try FuzzTarget.lengthOfTable(bytes) == bytes.count, "table/\(name) is stale: see CopyReaderTests")
    }

    @Test func itemSeedsHaveCurrentFields() throws {
        func table<Row>(_: Row.Type) -> TableReader<Row> { TableReader(maximumRowLength: 4_096) }
        func lines<Item>(_: Item.Type) -> JSONLineReader<Item> { JSONLineReader(maximumLineLength: 4_096) }
        try expectRows(1, refused: 1, in: "csv/locations", by: table(LocationRecord.self))
        try expectRows(1, in: "csv/experiences", by: table(ExperienceRecord.self))
        try expectRows(1, in: "csv/codes", by: table(ShortCode.self))
        try expectRows(1, refused: 2, in: "json-lines/locations", by: lines(LocationRecord.self))
        try expectRows(1, in: "json-lines/experiences", by: lines(ExperienceRecord.self))
        try expectRows(1, in: "json-lines/clips", by: lines(Clip.self))
    }

    @Test func archiveSeedIsAccepted() throws {
        let file = Once(try Self.seed("archive/small"))
        var archive = TenantArchiveReader { file.take() }
        _ = try archive.readTenant()
        try archive.readRest()
        #expect(archive.problems == ImportProblems(), "archive/small is stale")
    }

    /// These seeds pass every check of a signature, so that inputs derived from them reach the later checks.
    @Test(arguments: ["ios-14", "ios-27"]) func provedSeedFailsOnlyForAppID(system: String) async throws {
        func bytes(_ target: String, _ name: String) throws -> [UInt8] {
            let seed = try #require(
                Self.seeds(of: target).first { $0.lastPathComponent == "\(name)-\(system)" })
            return Array(try Data(contentsOf: seed))
        }
        for inspection in [
            await FuzzTarget.inspect(attestation: try bytes("attestation", "proved")),
            FuzzTarget.inspect(assertion: try bytes("assertion", "signed")),
        ] {
            #expect(inspection.steps.filter { $0.verdict != .passed }.map(\.reason) == [.appID])
        }
    }

    @Test func seedFoldersMatchTargets() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: #require(Self.folder).path)
        #expect(Set(names) == Set(FuzzTarget.all.map(\.name)))
    }
}
