import DoorstepClient
import Foundation
import Testing

@Suite struct SharedDirectoryTests {
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory.appendingPathComponent("container"))
    }

    @Test func itemWrittenByOneIsReadByOther() async throws {
        try await withDirectory { url in
            let (clip, app) = (SharedDirectory(url), SharedDirectory(url))
            for item in ContainerItem.allCases {
                #expect(try app.read(item) == nil)
                try clip.write(Data("first".utf8), to: item)
                try clip.write(Data("second".utf8), to: item)
                #expect(try app.read(item) == Data("second".utf8))
                #expect(try app.establish(Data("third".utf8), as: item) == Data("second".utf8))
                try app.remove(item)
                try app.remove(item)
                #expect(try clip.read(item) == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == [])
        }
    }

    @Test func concurrentEstablishersGetSameItem() async throws {
        try await withDirectory { url in
            for round in 0..<20 {
                let got = try await withThrowingTaskGroup(of: Data.self) { group in
                    for number in 0..<16 {
                        group.addTask {
                            try SharedDirectory(url.appendingPathComponent("\(round)")).establish(
                                Data("\(number)".utf8), as: .instance)
                        }
                    }
                    return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
                }
                #expect(got.count == 1)
                #expect(
                    try FileManager.default.contentsOfDirectory(
                        atPath: url.appendingPathComponent("\(round)").path)
                        == ["instance"])
            }
        }
    }

    @Test func readersSeeOnlyWholeItems() async throws {
        try await withDirectory { url in
            let texts = Set((0..<8).map { Data(String(repeating: "\($0)", count: 20_000).utf8) })
            let first = try #require(texts.first)
            try SharedDirectory(url).write(first, to: .lookups)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in texts {
                    group.addTask { for _ in 0..<20 { try SharedDirectory(url).write(text, to: .lookups) } }
                    group.addTask {
                        for _ in 0..<20 {
                            let read = try #require(try SharedDirectory(url).read(.lookups))
                            #expect(texts.contains(read))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func nonDirectoryPathIsAnError() throws {
        let container = SharedDirectory(URL(fileURLWithPath: "/dev/null/none"))
        #expect(throws: (any Error).self) { try container.write(Data(), to: .instance) }
        #expect(throws: (any Error).self) { try container.establish(Data(), as: .instance) }
    }
}
