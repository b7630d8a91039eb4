import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import ProcessSupport
import Synchronization

/// `doorstep serve` in its own process.
final class RunningServer: Sendable {
    let address: String
    let log: ServerLog
    private let client: HTTPClient
    private let process: Process

    /// Starts a server on a free port, runs the closure, and ends the server with SIGTERM.
    /// - Returns: The closure's result and the process's exit status.
    static func lend<Result: Sendable>(
        _ binary: DoorstepBinary, tls: (certificate: String, key: String)? = nil,
        flags: [String] = [], _ body: (RunningServer) async throws -> Result
    ) async throws -> (result: Result, status: Int32) {
        var arguments = ["serve", "--host", "127.0.0.1", "--port", "0"] + flags
        if let tls { arguments += ["--tls-certificate", tls.certificate, "--tls-key", tls.key] }
        let process = try binary.process(arguments)
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
        let port = try await log.port()
        let server = RunningServer(
            address: "\(tls == nil ? "http" : "https")://127.0.0.1:\(port)", log: log, process: process)
        do {
            let result = try await body(server)
            return (result, try await server.stop(exit))
        } catch {
            _ = try? await server.stop(exit)
            throw error
        }
    }

    private init(address: String, log: ServerLog, process: Process) {
        self.address = address
        self.log = log
        self.process = process
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Ends the process like a service manager.
    func terminate() { process.terminate() }

    /// Makes the process read its certificate and key files again.
    func hangUp() { kill(process.processIdentifier, SIGHUP) }

    private func stop(_ exit: ExitStatus) async throws -> Int32 {
        try await client.shutdown()
        process.terminate()
        return await exit.value()
    }

    struct Answer: Sendable {
        let status: Int
        let version: String
        let json: JSONValue?

        subscript(key: String) -> JSONValue? { json?.objectValue?[key] }
    }

    func get(
        _ path: String, key: String? = nil, fields: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        return try await send(request, key: key)
    }

    /// The body of a response as text.
    /// - Parameter address: Another address than the server's.
    func text(_ path: String, at address: String? = nil) async throws -> String {
        let response = try await client.execute(
            HTTPClientRequest(url: (address ?? self.address) + path), timeout: .seconds(120))
        return String(buffer: try await response.body.collect(upTo: 1 << 22))
    }

    /// Sends a GET request with another host.
    func get(_ path: String, host: String) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.headers.add(name: "Host", value: host)
        return try await send(request, key: nil)
    }

    /// Repeats the request until the response has this status.
    func get(_ path: String, host: String, becoming expected: Int) async throws -> Answer {
        try await get(path, host: host) { $0.status == expected }
    }

    /// Repeats the request until the closure accepts the response.
    func get(_ path: String, host: String, where isExpected: (Answer) -> Bool) async throws -> Answer {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let response = try await get(path, host: host)
            if isExpected(response) || .now >= deadline { return response }
        }
    }

    func lookUp(
        _ url: String, key: String, fields: [String: String] = [:]
    ) async throws -> Answer {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let encoded = url.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return try await get("/v1/lookup?url=\(encoded)", key: key, fields: fields)
    }

    /// Repeats a lookup until it has this status. A server sees a change within a second of its commit.
    /// - Returns: The last status, which differs if time has run out.
    func status(of url: String, key: String, becoming expected: Int) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(120)
        var status = 0
        repeat { status = try await lookUp(url, key: key).status } while status != expected && .now < deadline
        return status
    }

    func post(_ path: String, key: String, _ body: JSONValue) async throws -> Answer {
        try await send(.POST, path, key: key, body)
    }

    func put(_ path: String, key: String, _ body: JSONValue) async throws -> Answer {
        try await send(.PUT, path, key: key, body)
    }

    func patch(_ path: String, key: String, _ body: JSONValue) async throws -> Answer {
        try await send(.PATCH, path, key: key, body, type: "application/merge-patch+json")
    }

    func delete(_ path: String, key: String) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.method = .DELETE
        return try await send(request, key: key)
    }

    private func send(
        _ method: HTTPMethod, _ path: String, key: String, _ body: JSONValue,
        type: String = "application/json"
    ) async throws -> Answer {
        try await send(
            method, path, key: key, body.text, type: type)
    }

    func send(
        _ method: HTTPMethod, _ path: String, key: String, _ body: String, type: String,
        fields: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.method = method
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        request.headers.add(name: "Content-Type", value: type)
        request.body = .bytes(ByteBuffer(string: body))
        return try await send(request, key: key)
    }

    private func send(_ request: HTTPClientRequest, key: String?) async throws -> Answer {
        var request = request
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        let response = try await client.execute(request, timeout: .seconds(120))
        let body = try await response.body.collect(upTo: 1 << 22)
        return Answer(
            status: Int(response.status.code), version: "\(response.version)",
            json: try? JSONValue(parsing: body.readableBytesView))
    }
}

/// The log of a server up to now.
final class ServerLog: Sendable {
    private struct State {
        var text = ""
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var text: String { state.withLock { $0.text } }

    func append(_ data: Data) { change { $0.text += String(decoding: data, as: UTF8.self) } }

    func end() { change { $0.hasEnded = true } }

    /// The port in the line that says that the server is listening, or in a line with other words.
    func port(saying words: String = "listening") async throws -> Int {
        try await first { text in
            text.split(separator: "\n").first {
                $0.hasSuffix(words) || $0.contains("\"message\":\"\(words)\"") || $0.contains("msg=\(words) ")
            }?
            .firstMatch(of: /port(?:=|":")(\d+)/)
            .flatMap { Int($0.output.1) }
        }
    }

    /// Waits for a whole line with these words. A response can arrive before its line.
    @discardableResult
    func line(saying words: String) async throws -> String {
        try await first { text in
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first { $0.contains(words) }.map(String.init)
        }
    }

    /// Waits until the closure finds a value in the text.
    private func first<Found>(_ find: (String) -> Found?) async throws -> Found {
        while true {
            let text = text
            if let found = find(text) { return found }
            if state.withLock({ $0.hasEnded }) {
                throw DoorstepBinary.Failed(description: "the server ended: \(text)")
            }
            let length = text.utf8.count
            await withCheckedContinuation { continuation in
                let isStale = state.withLock { state in
                    if state.text.utf8.count == length, !state.hasEnded {
                        state.waiter = continuation
                        return false
                    }
                    return true
                }
                if isStale { continuation.resume() }
            }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// The exit status of a process, available after its end.
final class ExitStatus: Sendable {
    private let stream: AsyncStream<Int32>
    private let continuation: AsyncStream<Int32>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func set(_ status: Int32) {
        continuation.yield(status)
        continuation.finish()
    }

    func value() async -> Int32 {
        for await status in stream { return status }
        return -1
    }
}
