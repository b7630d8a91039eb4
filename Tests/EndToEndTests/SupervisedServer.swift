import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import NIOHTTP1
import ProcessSupport
import Synchronization

/// `doorstep serve` on a fixed port. A test can kill it and start it again.
final class SupervisedServer: Sendable {
    private struct State {
        var process: Process?
        var exit = ExitStatus()
        var port = 0
        var log = ServerLog()
        var logs = ""
    }

    private let binary: DoorstepBinary
    private let state = Mutex(State())

    init(_ binary: DoorstepBinary) throws {
        self.binary = binary
    }

    /// The logs of all runs.
    var log: String { state.withLock { $0.logs + $0.log.text } }

    /// Starts the server and waits until it listens. While the database is unavailable, tries again.
    func start() async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do {
                return try await startOnce()
            } catch {
                guard .now < deadline else { throw error }
            }
        }
    }

    private func startOnce() async throws {
        let port = state.withLock(\.port)
        let process = try binary.process([
            "serve", "--host", "127.0.0.1", "--port", "\(port)", "--log-level", "trace",
        ])
        let pipe = Pipe.makePrivate()
        process.standardError = pipe
        let log = ServerLog()
        pipe.fileHandleForReading.readabilityHandler = { log.append($0.availableData) }
        let exit = ExitStatus()
        process.terminationHandler = { ended in
            log.end()
            exit.set(ended.terminationStatus)
        }
        try process.start()
        state.withLock { state in
            state.process = process
            state.exit = exit
            state.logs += state.log.text
            state.log = log
        }
        let listening = try await log.port()
        state.withLock { $0.port = listening }
    }

    /// Kills the process, like a power failure.
    func kill() async {
        let (process, exit) = state.withLock { ($0.process, $0.exit) }
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await exit.value()
    }

    /// Ends the process like a service manager.
    func stop() async throws {
        let (process, exit) = state.withLock { ($0.process, $0.exit) }
        guard let process else { return }
        process.terminate()
        let status = await exit.value()
        guard status == 0 else {
            throw DoorstepBinary.Failed(description: "the server ended with \(status)")
        }
    }

    struct Answer: Sendable {
        let status: Int
        let isReplayed: Bool
        let json: JSONValue?

        subscript(key: String) -> JSONValue? { json?.objectValue?[key] }
    }

    func send(
        _ method: String, _ path: String, key: String, idempotencyKey: String? = nil, _ body: JSONValue? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(state.withLock(\.port))\(path)")
        request.method = HTTPMethod(rawValue: method)
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        if let idempotencyKey { request.headers.add(name: "Idempotency-Key", value: idempotencyKey) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body.serialized()))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        let text = try await response.body.collect(upTo: 1 << 24)
        return Answer(
            status: Int(response.status.code),
            isReplayed: response.headers.first(name: "Idempotent-Replayed") == "true",
            json: try? JSONValue(parsing: text.readableBytesView))
    }
}
