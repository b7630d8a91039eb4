import Foundation
import PostgreSQL
import ProcessSupport
import Synchronization

/// A PgBouncer in front of the test server, which gives each transaction any free connection.
public struct PgBouncer: Sendable {
    private let directory: String

    /// Runs the closure with a PgBouncer, which ends afterwards.
    @discardableResult
    public static func withPgBouncer<R: Sendable>(
        serverConnections: Int, _ body: (PgBouncer) async throws -> R
    ) async throws -> R {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = try await start(in: directory, serverConnections)
        do {
            let result = try await body(PgBouncer(directory: directory))
            await process.end()
            return result
        } catch {
            await process.end()
            throw error
        }
    }

    /// A connection string for one of the server's databases, through the pooler.
    func conninfo(database: String) -> String {
        "host=\(directory) port=6432 dbname=\(database)"
    }

    private static func start(in directory: String, _ serverConnections: Int) async throws -> PgBouncerProcess
    {
        let (address, port, sockets) = try await TestServer.administration().withConnection {
            try await $0.execute(
                """
                SELECT host(inet_server_addr()), current_setting('port'),
                    trim(BOTH '"' FROM split_part(current_setting('unix_socket_directories'), ',', 1))
                """
            ).one().decode(String?.self, String.self, String.self)
        }
        let host = address ?? sockets
        let users = TestLogin.allCases.map { "\"\($0.rawValue)\" \"\($0.password)\"" }
        try users.joined(separator: "\n").write(
            toFile: directory + "/users", atomically: true, encoding: .utf8)
        var settings = [
            "[databases]", "* = host=\(host) port=\(port)", "[pgbouncer]", "pool_mode = transaction",
            "unix_socket_dir = \(directory)", "listen_port = 6432", "auth_type = trust",
            "auth_file = \(directory)/users", "max_client_conn = 100",
            "default_pool_size = \(serverConnections)",
        ]
        if geteuid() == 0 {
            // PgBouncer refuses to run as root. The owner of the server can access the server's socket.
            let owner = try FileManager.default.attributesOfItem(
                atPath: address == nil ? sockets : directory)
            let name = address == nil ? owner[.ownerAccountName] as? String ?? "nobody" : "nobody"
            settings.append("user = \(name)")
            try FileManager.default.setAttributes([.ownerAccountName: name], ofItemAtPath: directory)
        }
        try settings.joined(separator: "\n").write(
            toFile: directory + "/settings", atomically: true, encoding: .utf8)
        return try await PgBouncerProcess.start(settings: directory + "/settings")
    }
}

/// The process of PgBouncer. It is ready when its log says so.
private final class PgBouncerProcess: Sendable {
    private let process: Process
    private let ended: AsyncStream<Never>

    private init(process: Process, ended: AsyncStream<Never>) {
        self.process = process
        self.ended = ended
    }

    static func start(settings: String) async throws -> PgBouncerProcess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var environment = ProcessInfo.processInfo.environment
        // Debian installs it in a folder that is only in root's PATH.
        environment["PATH", default: "/usr/bin"] += ":/usr/sbin"
        process.environment = environment
        process.arguments = ["pgbouncer", settings]
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe.makePrivate()
        process.standardError = pipe
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        process.terminationHandler = { _ in end.finish() }
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                return line.finish()
            }
            line.yield(String(decoding: data, as: UTF8.self))
        }
        try process.start()
        var log = ""
        for await part in lines {
            log += part
            if log.contains("process up") { return PgBouncerProcess(process: process, ended: ended) }
        }
        throw PgBouncerError(log: log)
    }

    func end() async {
        // Not SIGTERM: the process has the signal mask of the thread that started it, which may block that.
        kill(process.processIdentifier, SIGKILL)
        for await _ in ended {}
    }
}

struct PgBouncerError: Error, CustomStringConvertible {
    let log: String
    var description: String { "PgBouncer did not start: \(log)" }
}
