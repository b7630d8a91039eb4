import Foundation
import Platform
import Testing

@Suite struct UnfinishedFilesTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
    }

    @Test func filesAppearTogether() throws {
        try withFolder { folder in
            do {
                var files = UnfinishedFiles()
                for name in ["a", "b"] {
                    try files.write(Array(name.utf8), for: folder.appending(path: name).path())
                }
                #expect(try !names(folder).contains("a"))
                try files.putInPlace()
            }
            #expect(try names(folder) == ["a", "b"])
            #expect(try Data(contentsOf: folder.appending(path: "b")) == Data("b".utf8))
            let path = folder.appending(path: "a").path()
            #expect(
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    /// The file exists before the first byte is written, or appears meanwhile.
    @Test func existingFileIsNotReplaced() throws {
        try withFolder { folder in
            let paths = ["a", "b", "c"].map { folder.appending(path: $0).path() }
            do {
                var files = UnfinishedFiles()
                for path in paths { try files.write("new".utf8, for: path) }
                try Data("mine".utf8).write(to: folder.appending(path: "b"))
                let error = #expect(throws: CocoaError.self) { try files.putInPlace() }
                #expect(error?.code == .fileWriteFileExists && error?.filePath == paths[1])
                let other = #expect(throws: CocoaError.self) { try files.write("new".utf8, for: paths[1]) }
                #expect(other?.code == .fileWriteFileExists)
            }
            #expect(try names(folder) == ["b"])
            #expect(try Data(contentsOf: folder.appending(path: "b")) == Data("mine".utf8))
        }
    }

    @Test func unfinishedFilesAreRemoved() throws {
        try withFolder { folder in
            do {
                var files = UnfinishedFiles()
                try files.write("a".utf8, for: folder.appending(path: "a").path())
                #expect(throws: CocoaError.self) { try files.write("b".utf8, for: "/nowhere/at/all") }
            }
            #expect(try names(folder).isEmpty)
        }
    }
}
