import ArgumentParser
import EmbeddedPostgreSQL
import Foundation

struct PostgresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres", abstract: "Run a command with a private PostgreSQL.",
        discussion: """
            Starts the server of a directory, or joins the one that runs there, and runs the command with DATABASE_URL \
            set to it, as superuser. Exits with the command's status.
            """)

    @Argument(help: "The private server's directory.") var directory: String
    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments, after --.") var command:
        [String]

    func run() async throws {
        let words = command.first == "--" ? Array(command.dropFirst()) : command
        guard !words.isEmpty else { throw ValidationError("name a command after --") }
        let status = try await PrivateServer.lend(in: directory) { server in
            try await Self.run(words, databaseURL: server.conninfo)
        }
        throw ExitCode(status)
    }

    /// Runs a command found on PATH, with this process's input and output.
    private static func run(_ words: [String], databaseURL: String) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(["DATABASE_URL": databaseURL]) {
            $1
        }
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { ended in
                // A shell reports a signal the same way.
                let base: Int32 = ended.terminationReason == .uncaughtSignal ? 128 : 0
                continuation.resume(returning: base + ended.terminationStatus)
            }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
