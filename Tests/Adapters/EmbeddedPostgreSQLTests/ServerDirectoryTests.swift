import EmbeddedPostgreSQL
import Foundation
import Testing

/// Folders of other users or programs are refused, and do not change.
struct ServerDirectoryTests {
    enum Content: String, CaseIterable, Sendable {
        case otherThings, lockBesideOtherThings, lockOfAnotherProgram, lockThatIsADirectory, lockThatIsALink
        case sharedByAccounts

        func make(in directory: String) throws {
            let files = FileManager.default
            switch self {
            case .otherThings:
                try files.createDirectory(
                    atPath: "\(directory)/photographs", withIntermediateDirectories: false)
            case .lockBesideOtherThings:
                for name in ["lock", "status"] {
                    _ = files.createFile(atPath: "\(directory)/\(name)", contents: nil)
                }
            case .lockOfAnotherProgram:
                _ = files.createFile(atPath: "\(directory)/lock", contents: Data("4711".utf8))
            case .lockThatIsADirectory:
                try files.createDirectory(atPath: "\(directory)/lock", withIntermediateDirectories: false)
            case .lockThatIsALink:
                try files.createSymbolicLink(atPath: "\(directory)/lock", withDestinationPath: "/dev/null")
            case .sharedByAccounts: break
            }
            let mode = self == .sharedByAccounts ? 0o1777 : 0o755
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
        }
    }

    @Test(arguments: Content.allCases) func foreignDirectoryIsRejectedUnchanged(
        _ content: Content
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try content.make(in: directory)
        let before = try state(of: directory)
        await #expect(throws: EmbeddedServerError.foreignDirectory(directory)) {
            try await EmbeddedServer.startOrJoin(directory: directory)
        }
        #expect(try state(of: directory) == before)
    }

    /// The permissions of the folder, and its content.
    private func state(of directory: String) throws -> [String] {
        var status = stat()
        #expect(stat(directory, &status) == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        return ["\(status.st_mode) \(status.st_uid) \(status.st_gid)"] + names
    }
}
