import Foundation
import Testing

@testable import Platform

@Suite struct UnfinishedFolderTests {
    /// Runs the closure with a path in a new folder. Returns the files that remain there.
    private static func inFolder(_ body: (String) throws -> Void) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/codes")
        return try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    @Test(arguments: ["", "/", "//"])
    func finishedFolderIsPutInPlace(end: String) throws {
        let left = try Self.inFolder { path in
            var folder = try UnfinishedFolder(for: path + end)
            try folder.write(Array("one".utf8), to: "1")
            try folder.write([], to: "2")
            #expect(!FileManager.default.fileExists(atPath: path))
            try folder.putInPlace()
            #expect(try Data(contentsOf: URL(filePath: path + "/1")) == Data("one".utf8))
            #expect(try #require(FileStatus(path: path)).permissions == 0o700)
            #expect(try #require(FileStatus(path: path + "/1")).permissions == 0o600)
        }
        #expect(left == ["codes", "codes/1", "codes/2"])
    }

    @Test func onlyEmptyFolderIsReplaced() throws {
        let left = try Self.inFolder { path in
            mkdir(path, 0o755)
            var first = try UnfinishedFolder(for: path)
            try first.write([1], to: "1")
            try first.putInPlace()
            #expect(throws: POSIXError(.ENOTEMPTY)) {
                var second = try UnfinishedFolder(for: path)
                try second.write([2], to: "2")
                try second.putInPlace()
            }
        }
        #expect(left == ["codes", "codes/1"])
    }

    @Test func fileAtTheFoldersPathIsNotReplaced() throws {
        let left = try Self.inFolder { path in
            try Data("file".utf8).write(to: URL(filePath: path))
            #expect(throws: POSIXError(.ENOTDIR)) {
                var folder = try UnfinishedFolder(for: path)
                try folder.putInPlace()
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("file".utf8))
        }
        #expect(left == ["codes"])
    }

    @Test func interruptedFolderIsRemoved() throws {
        struct Interruption: Error {}
        let left = try Self.inFolder { path in
            #expect(throws: Interruption.self) {
                let folder = try UnfinishedFolder(for: path)
                try folder.write([1], to: "1")
                throw Interruption()
            }
        }
        #expect(left.isEmpty)
    }

    @Test func secondWriteOfSameFileIsRejected() throws {
        _ = try Self.inFolder { path in
            let folder = try UnfinishedFolder(for: path)
            try folder.write([1], to: "1")
            #expect(throws: POSIXError(.EEXIST)) { try folder.write([2], to: "1") }
        }
    }
}
