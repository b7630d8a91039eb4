import AppStoreConnectSimulator
import Crypto
import Formats
import Foundation
import ProcessSupport
import StoreSupport
import Synchronization
import TestSupport

/// `doorstep appstore` for a tenant with a connected clip.
struct RegisteredCommand: Sendable {
    let binary: DoorstepBinary
    private let options: [String]

    /// Connects the clip with the command, and runs the closure.
    static func lend<Result: Sendable>(
        _ tenant: RegisteredTenant, _ body: (RegisteredCommand) async throws -> Result
    ) async throws -> Result {
        let directory = try TemporaryDirectory()
        let file = directory.path("AuthKey.p8")
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data((StoreFixture.key.pemRepresentation + "\n").utf8),
                attributes: [.posixPermissions: 0o600])
        else { throw RegisteredTenant.Failed() }
        var binary = DoorstepBinary(databaseURL: tenant.database.conninfo(as: .admin))
        binary.environment["DOORSTEP_TOKEN_SECRET"] = RegisteredTenant.secret
        try await binary.succeed([
            "appstore", "connect", "--tenant", "acme", "--clip", StoreFixture.clipBundleID, "--key", file,
            "--key-id", StoreFixture.keyID, "--issuer-id", StoreFixture.issuer,
        ])
        return try await body(
            RegisteredCommand(
                binary: binary, options: ["--tenant", "acme", "--app-store", tenant.simulator.host]))
    }

    func run(_ arguments: [String]) async throws -> DoorstepBinary.Outcome {
        try await binary.run(["appstore"] + arguments + options)
    }

    func start(_ arguments: [String]) throws -> Run {
        let process = try binary.process(["appstore"] + arguments + options)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return try Run(process)
    }

    /// A running command.
    final class Run: Sendable {
        private let exit = ExitStatus()
        private let ended = Mutex(false)
        private let pid = Mutex<Int32>(0)

        fileprivate init(_ process: Process) throws {
            process.terminationHandler = { [self] in
                ended.withLock { $0 = true }
                exit.set($0.terminationStatus)
            }
            try process.start()
            pid.withLock { $0 = process.processIdentifier }
        }

        var hasEnded: Bool { ended.withLock { $0 } }

        /// Kills the process, like a power failure.
        /// - Returns: Whether the process was still running.
        func kill() async -> Bool {
            let isUnderWay = !hasEnded
            if isUnderWay { Foundation.kill(pid.withLock { $0 }, SIGKILL) }
            _ = await exit.value()
            return isUnderWay
        }
    }
}
