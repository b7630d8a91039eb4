import AppAttest
import Foundation
import Testing

@testable import FuzzTargets

/// Each seed, and each input that once broke something, is read without stopping the process.
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

    /// What is made up from these has come past each signature.
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
