import Foundation
import Testing

@testable import EmbeddedPostgreSQL

struct CommandTests {
    @Test(
        arguments: [
            (["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143),
            (["sh", "-c", "test \"$DOOR\" = open"], 0), (["doorstep-no-such-program"], 127),
        ] as [([String], Int32)])
    func foregroundCommandReturnsShellExitStatus(_ words: [String], _ status: Int32) async throws {
        let command = ForegroundCommand(words)
        #expect(try await command.run(environment: ["DOOR": "open"]) == status)
        command.send(SIGTERM)
        #expect(try await command.run(environment: [:]) == status)
    }

    /// In a separate process, which becomes an ordinary user that may not enter the tests' folder.
    @Test func unsearchableFolderInPathIsSkipped() async throws {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
                .path
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0])
            _ = FileManager.default.createFile(
                atPath: folder + "-file", contents: nil, attributes: [.posixPermissions: 0o644])
            defer {
                rmdir(folder)
                unlink(folder + "-file")
            }
            setenv("PATH", "\(folder):/usr/bin:/bin", 1)
            if geteuid() == 0 { #expect(seteuid(65_534) == 0) }
            defer { if getuid() == 0 { seteuid(0) } }
            let missing = ForegroundCommand(["doorstep-no-such-program"])
            #expect(try await missing.run(environment: [:]) == 127)
            let there = ForegroundCommand(["sh", "-c", "exit 3"])
            #expect(try await there.run(environment: [:]) == 3)
            // A file that exists and cannot be executed is a different error.
            let file = ForegroundCommand([folder + "-file"])
            #expect(try await file.run(environment: [:]) == 126)
        }
    }

    @Test func programSearchFollowsShellPathRules() throws {
        let folders = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folders) }
        for (folder, mode) in [("a", nil), ("b", 0o644), ("c", 0o755), ("d", 0o755)] as [(String, Int?)] {
            try FileManager.default.createDirectory(
                atPath: "\(folders)/\(folder)", withIntermediateDirectories: true)
            guard let mode else { continue }
            #expect(
                FileManager.default.createFile(
                    atPath: "\(folders)/\(folder)/tool", contents: nil, attributes: [.posixPermissions: mode])
            )
        }
        func find(_ name: String, _ path: [String]) -> String? {
            ForegroundCommand.find(name, in: path.map { "\(folders)/\($0)" }.joined(separator: ":"))
        }
        #expect(find("tool", ["a", "b", "c", "d"]) == "\(folders)/c/tool")
        #expect(find("tool", ["a", "b"]) == "\(folders)/b/tool")
        #expect(find("tool", ["a", "none"]) == nil)
        // A folder is not a program.
        #expect(find("a", ["."]) == nil)
        for word in ["./tool", "/bin/tool", "A=b", ""] { #expect(find(word, ["c"]) == word) }
    }

    @Test func serverAccountMustExistAndNotBeRoot() throws {
        #expect(throws: EmbeddedServerError.noAccount("doorstep-nobody")) {
            try ServerAccount.lookUp("doorstep-nobody")
        }
        // The account root is refused.
        #expect(throws: EmbeddedServerError.noAccount("root")) { try ServerAccount.lookUp("root") }
    }

    /// Only root can change accounts. In CI, the tests run as root.
    @Test(.enabled(if: geteuid() == 0)) func rootWithoutThePostgresAccountIsRejected() {
        #expect(throws: EmbeddedServerError.noAccount("doorstep-nobody")) {
            try ServerAccount(directory: "/nowhere", usual: "doorstep-nobody")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func commandSignalledBeforeStartDoesNotRun(
        _ signal: Int32
    ) async throws {
        let command = ForegroundCommand(["sleep", "60"])
        command.send(signal)
        #expect(try await command.run(environment: [:]) == 128 + signal)
    }

    @Test func signalIsForwardedToTheProgram() async throws {
        let pipe = Pipe()
        let started = pipe.fileHandleForWriting.fileDescriptor
        let path = "/proc/\(getpid())/fd/\(started)"
        let command = ForegroundCommand(["sh", "-c", "echo >\(path); exec sleep 60"])
        async let status = command.run(environment: [:])
        _ = try await Task.detached { try pipe.fileHandleForReading.read(upToCount: 1) }.value
        command.send(SIGTERM)
        #expect(try await status == 143)
    }

    @Test func hangingProgramIsEndedAtTimeout() {
        let command = Command(path: "/bin/sleep", arguments: ["60"], timeout: 0)
        let error = #expect(throws: EmbeddedServerError.self) { try command.run() }
        #expect(error?.description == "sleep failed: it did not end within 0 seconds")
    }

    @Test func accountFileDoesNotFollowSymbolicLinks() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let kept = "\(directory)/kept"
        try "kept".write(toFile: kept, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: "\(directory)/link", withDestinationPath: kept)
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory)/here", withDestinationPath: directory)
        #expect(!AccountFile.replace("link", in: directory, with: "lost"))
        #expect(!AccountFile.replace("kept", in: "\(directory)/here", with: "lost"))
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "kept")
        #expect(AccountFile.replace("kept", in: directory, with: "new"))
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "new")
    }
}
