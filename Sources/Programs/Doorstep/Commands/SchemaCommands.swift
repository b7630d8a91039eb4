import Administration
import ArgumentParser
import Formats
import Persistence
import PostgreSQL

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Migrate the database's schema; safe to run twice.",
        discussion: """
            The login must be able to become doorstep_owner. The first time it must also be able to create roles, \
            and a schema in the database.

            Example: doorstep migrate --database-url service=doorstep
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
        commandName: "status", abstract: "Show whether the database is available, and its schema's version.",
        discussion: "Example: doorstep status --queues")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var databaseOnly: DatabaseOnly
    @OptionGroup var output: OutputOptions
    @Flag(
        name: .customLong("queues"),
        help:
            "Also show servers, queues and connections; the login must be a member of doorstep_router."
    )
    var withQueues = false

    func run() async throws {
        let (status, server) = try await database.withPool { pool in
            let server = try await pool.withConnection { connection in
                try await connection.execute("SELECT current_setting('server_version')").one().decode(
                    String.self)
            }
            return (try await Schema.status(pool), server)
        }
        let installation =
            withQueues ? try await database.withPool { try await PostgresInstallation($0).status() } : nil
        let summary = "PostgreSQL \(server), schema version \(status.version) of \(Schema.migrations.count)"
        var json: JSONObject = [
            "postgresql": .string(server), "version": JSONValue(status.version),
            "pending": .array(status.pending.map { JSONValue($0.version) }),
        ]
        if let installation {
            json["servers"] = .array(installation.servers.map { .object($0.json) })
            json["queues"] = .array(installation.queues.map { .object($0.json) })
            json["connections"] = .array(installation.connections.map { .object($0.json) })
        }
        let lines =
            [status.isCurrent ? summary : "\(summary): run 'doorstep migrate'"]
            + (installation?.servers ?? []).map { server in
                let last =
                    server.endedAt.map { "ended at \($0.rfc3339)" } ?? "last seen at \(server.seenAt.rfc3339)"
                return
                    "server \(server.host) (\(server.version)): \(server.isRunning ? "running" : "stopped"), \(last)"
            }
            + (installation?.queues ?? []).map { queue in
                let due = queue.firstDueAt.map { ", the first due at \($0.rfc3339)" } ?? ""
                return "\(queue.kind.rawValue): \(queue.count) waiting\(due)"
            }
            + (installation?.connections ?? []).map {
                "\($0.count) connections of \($0.login)\($0.program.isEmpty ? "" : " (\($0.program))")"
            }
        output.print(json, line: lines.joined(separator: "\n"))
        if !status.isCurrent { throw ExitCode.failure }
    }
}

extension InstallationStatus.Server {
    fileprivate var json: JSONObject {
        [
            "host": .string(host), "version": .string(version), "running": .bool(isRunning),
            "startedAt": JSONValue(startedAt), "seenAt": JSONValue(seenAt),
            "endedAt": endedAt.map { JSONValue($0) } ?? .null,
        ]
    }
}

extension InstallationStatus.Queue {
    fileprivate var json: JSONObject {
        [
            "queue": .string(kind.rawValue), "waiting": JSONValue(count),
            "firstDueAt": firstDueAt.map { JSONValue($0) } ?? .null,
        ]
    }
}

extension InstallationStatus.Connections {
    fileprivate var json: JSONObject {
        ["login": .string(login), "program": .string(program), "connections": JSONValue(count)]
    }
}
