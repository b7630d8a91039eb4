import ArgumentParser
import EmbeddedPostgreSQL
import UnixSignals

struct PostgresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres", abstract: "Run a command with an embedded PostgreSQL.",
        discussion: """
            Starts the server of a directory, or joins the one that runs there. The command gets DATABASE_URL for a \
            superuser, and none of libpq's own variables. Passes SIGINT and SIGTERM on, and exits with the command's \
            status.

            Example: doorstep postgres /tmp/doorstep-db -- psql
            """)

    @Argument(help: "Directory of the embedded PostgreSQL.", completion: .directory) var directory: String
    @Argument(parsing: .captureForPassthrough, help: "Command and its arguments, after --.") var command:
        [String]

    func run() async throws {
        let words = command.first == "--" ? Array(command.dropFirst()) : command
        guard !words.isEmpty else { throw ValidationError("name a command after --") }
        let foreground = ForegroundCommand(words)
        // Before the server starts, because a signal during the start prevents the command from running.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let forwarding = Task {
            for await signal in signals { foreground.send(signal.rawValue) }
        }
        defer { forwarding.cancel() }
        let status = try await EmbeddedServer.lend(in: directory, trapsSignals: false) { server in
            try await foreground.run(environment: ["DATABASE_URL": server.conninfo])
        }
        throw ExitCode(status)
    }
}
