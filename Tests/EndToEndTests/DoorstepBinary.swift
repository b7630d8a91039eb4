import Formats
import Foundation
import ProcessSupport

/// The built command, run as its users run it.
struct DoorstepBinary: Sendable {
    /// Added to the environment of each run.
    var environment: [String: String]

    init(databaseURL: String) {
        environment = [
            "DATABASE_URL": databaseURL,
            "DOORSTEP_LOG_FORMAT": "text",
            "DOORSTEP_SIGNING_SECRET": "a secret of the tests that is long enough",
            // The addresses of the tests' sites and webhooks.
            "DOORSTEP_OUTBOUND_ALLOW": "127.0.0.0/8,::1",
        ]
    }

    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String

        /// The output, parsed as JSON.
        func json() throws -> JSONValue { try JSONValue(parsing: output.utf8) }
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// The command is in the folder of the tests' executable.
    static func executable() throws -> URL {
        try URL(fileURLWithPath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appendingPathComponent("doorstep")
    }

    /// Runs a command and waits for its end.
    func run(_ arguments: String..., input: String? = nil) async throws -> Outcome {
        try await run(arguments, input: input)
    }

    /// - Parameter program: Another program to run in the same environment.
    func run(
        _ arguments: [String], of program: URL? = nil, input: String? = nil
    ) async throws -> Outcome {
        let process = try process(arguments)
        if let program { process.executableURL = program }
        let (output, errors, standardInput) = (
            Pipe.makePrivate(), Pipe.makePrivate(), Pipe.makePrivate()
        )
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = standardInput
        return try await withCheckedThrowingContinuation { continuation in
            // On a separate thread, because reading a pipe to its end blocks.
            Thread.detachNewThread {
                do {
                    try process.start()
                    let collected = Collected()
                    let reader = Thread {
                        collected.errors(errors.fileHandleForReading.readDataToEndOfFile())
                    }
                    reader.start()
                    if let input { standardInput.fileHandleForWriting.write(Data(input.utf8)) }
                    try standardInput.fileHandleForWriting.close()
                    let text = output.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    continuation.resume(
                        returning: Outcome(
                            status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
                            errors: String(decoding: collected.wait(), as: UTF8.self)))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Runs a command that must succeed.
    @discardableResult
    func succeed(_ arguments: String..., input: String? = nil) async throws -> Outcome {
        try await succeed(arguments, input: input)
    }

    @discardableResult
    func succeed(_ arguments: [String], input: String? = nil) async throws -> Outcome {
        let outcome = try await run(arguments, input: input)
        guard outcome.status == 0 else {
            throw Failed(description: "\(arguments) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }

    func process(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return process
    }
}

/// Passes data from one thread to another.
private final class Collected: Sendable {
    private let condition = NSCondition()
    // Read and written only while `condition` is locked.
    nonisolated(unsafe) private var data: Data?

    func errors(_ data: Data) {
        condition.lock()
        self.data = data
        condition.signal()
        condition.unlock()
    }

    func wait() -> Data {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let data { return data }
            condition.wait()
        }
    }
}
