import Foundation
import Testing

@testable import EmbeddedPostgreSQL

struct CommandTests {
    @Test(
        arguments: [
            (["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143),
            (["sh", "-c", "test \"$DOOR\" = open"], 0), (["doorstep-no-such-program"], 127),
        ] as [([String], Int32)])
    func aForegroundCommandEndsAsInAShell(_ words: [String], _ status: Int32) async throws {
        let command = ForegroundCommand(words)
        #expect(try await command.run(environment: ["DOOR": "open"]) == status)
        command.send(SIGTERM)
        #expect(try await command.run(environment: [:]) == status)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalBeforeItRunsKeepsItFromRunning(
        _ signal: Int32
    ) async throws {
        let command = ForegroundCommand(["sleep", "60"])
        command.send(signal)
        #expect(try await command.run(environment: [:]) == 128 + signal)
    }

    @Test func aSignalIsPassedOn() async throws {
        let pipe = Pipe()
        let started = pipe.fileHandleForWriting.fileDescriptor
        let path = "/proc/\(getpid())/fd/\(started)"
        let command = ForegroundCommand(["sh", "-c", "echo >\(path); exec sleep 60"])
        async let status = command.run(environment: [:])
        _ = try await Task.detached { try pipe.fileHandleForReading.read(upToCount: 1) }.value
        command.send(SIGTERM)
        #expect(try await status == 143)
    }

    @Test func aProgramThatHangsIsEnded() {
        let command = Command(path: "/bin/sleep", arguments: ["60"], timeout: 0)
        let error = #expect(throws: PrivateServerError.self) { try command.run() }
        #expect(error?.description == "sleep failed: it did not end within 0 seconds")
    }

    @Test func aLinkIsNotWrittenThrough() throws {
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
