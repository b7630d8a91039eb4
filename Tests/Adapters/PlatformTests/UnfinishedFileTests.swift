import Foundation
import Testing

@testable import Platform

@Suite struct UnfinishedFileTests {
    /// Runs the closure with a path in a new folder. Returns the files that remain there.
    private static func inFolder(_ body: (String) throws -> Void) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/file")
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    @Test func finishedFileReplacesTheOldOne() throws {
        let left = try Self.inFolder { path in
            try Data("before".utf8).write(to: URL(filePath: path))
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data("after".utf8))
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
            try file.putInPlace()
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("after".utf8))
            #expect(try #require(FileStatus(path: path)).permissions == 0o600)
        }
        #expect(left == ["file"])
    }

    @Test func interruptedFileIsRemoved() throws {
        struct Interruption: Error {}
        let left = try Self.inFolder { path in
            try Data("before".utf8).write(to: URL(filePath: path))
            #expect(throws: Interruption.self) {
                let file = try UnfinishedFile(for: path)
                try file.handle.write(contentsOf: Data("aft".utf8))
                throw Interruption()
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
        }
        #expect(left == ["file"])
    }

    @Test func sharedFileTakesMaskedPermissions() throws {
        _ = try Self.inFolder { path in
            try Data().write(to: URL(filePath: path))
            chmod(path, 0o647)
            var file = try UnfinishedFile(for: path)
            try file.share(as: try #require(FileStatus(path: path)), mask: 0o750)
            try file.putInPlace()
            #expect(try #require(FileStatus(path: path)).permissions == 0o640)
        }
    }

    @Test func missingFolderIsAnError() {
        #expect(throws: CocoaError.self) { _ = try UnfinishedFile(for: "/nowhere/at/all") }
    }
}
