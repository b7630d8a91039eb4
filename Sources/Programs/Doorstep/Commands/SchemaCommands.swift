import ArgumentParser
import JSON
import Persistence
import PostgreSQL

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the database's schema up to date; safe to run twice.",
        discussion: """
            The login must be able to become doorstep_owner, and the first time to create roles and, in the database, \
            a schema.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var databaseOnly: DatabaseOnly
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (applied, version) = try await database.withPool(migrates: false) { pool in
            (try await Schema.migrate(pool), try await Schema.status(pool).version)
        }
        output.print(
            ["applied": .array(applied.map { JSONValue($0.version) }), "version": JSONValue(version)],
            line: applied.isEmpty
                ? "The schema is up to date (version \(version))"
                : applied.map { "Applied \($0.version) \($0.name)" }.joined(separator: "\n"))
    }
}

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Tell whether the database answers and how far its schema is.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var databaseOnly: DatabaseOnly
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (status, server) = try await database.withPool { pool in
            let server = try await pool.withConnection { connection in
                try await connection.execute("SELECT current_setting('server_version')").one().decode(
                    String.self)
            }
            return (try await Schema.status(pool), server)
        }
        let summary = "PostgreSQL \(server), schema version \(status.version) of \(Schema.migrations.count)"
        output.print(
            [
                "postgresql": .string(server), "version": JSONValue(status.version),
                "pending": .array(status.pending.map { JSONValue($0.version) }),
            ],
            line: status.isCurrent ? summary : "\(summary): run 'doorstep migrate'")
        if !status.isCurrent { throw ExitCode.failure }
    }
}
