import AsyncHTTPClient
import Foundation
import JSON
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

/// `doorstep serve` on one port, however often it is killed and started again.
final class SupervisedServer: Sendable {
    private struct State {
        var process: Process?
        var port = 0
        var log = ServerLog()
        var logs = ""
    }

    private let binary: DoorstepBinary
    private let state = Mutex(State())

    init(_ binary: DoorstepBinary) throws {
        self.binary = binary
    }

    /// All that the server has logged, whenever it ran.
    var log: String { state.withLock { $0.logs + $0.log.text } }

    /// Starts the server, and waits until it listens. While the database is away it does not: then it is tried again.
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
        process.terminationHandler = { _ in log.end() }
        try process.run()
        state.withLock { state in
            state.process = process
            state.logs += state.log.text
            state.log = log
        }
        let listening = try await log.port()
        state.withLock { $0.port = listening }
    }

    /// Ends the process as a power failure would.
    func kill() {
        guard let process = state.withLock({ $0.process }), process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the process as a service manager does.
    func stop() async throws {
        guard let process = state.withLock({ $0.process }) else { return }
        process.terminate()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw DoorstepBinary.Failed(description: "the server ended with \(process.terminationStatus)")
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
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        let text = try await response.body.collect(upTo: 1 << 24)
        return Answer(
            status: Int(response.status.code),
            isReplayed: response.headers.first(name: "Idempotent-Replayed") == "true",
            json: try? JSONValue(parsing: text.readableBytesView))
    }
}
