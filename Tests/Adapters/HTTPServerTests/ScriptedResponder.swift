import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import HTTPServer

/// Responds according to the path: `/now` on the event loop, `/delayed` on the event loop after a second, and any other path from a
/// task.
///
/// Responses have the request's `X-Request-ID` and the request's body.
final class ScriptedResponder: ServerResponder {
    /// The number of requests with a task.
    let tasks = Atomic(0)
    /// The number of requests that the event loop tried to respond to.
    let replies = Atomic(0)
    /// The maximum number of bytes of a body that were read before the response.
    let read = Atomic(0)
    /// The number of tasks of `/work` that ended without cancellation.
    let worked = Atomic(0)
    private let gate = Mutex<[CheckedContinuation<Void, Never>]?>([])

    static let maximumBodyLength = 64
    static let requestID = HTTPField.Name("X-Request-ID") ?? .age

    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply {
        replies.wrappingAdd(1, ordering: .relaxed)
        let fields = Self.fields(of: request)
        switch request.path {
        case "/now":
            return .atOnce(maximumBodyLength: Self.maximumBodyLength) {
                ServerResponse(.ok, fields, body: .buffer($0))
            }
        case "/big":
            return .atOnce(maximumBodyLength: 0) { _ in
                ServerResponse(.ok, fields, body: .buffer(ByteBuffer(repeating: 1, count: 65_536)))
            }
        case "/not-modified":
            return .atOnce(maximumBodyLength: 0) { _ in ServerResponse(.notModified, fields) }
        case "/delayed":
            return .atOnce(maximumBodyLength: Self.maximumBodyLength) { _ in
                ServerResponse(
                    .tooManyRequests, fields, delay: ServerResponse.Delay(.seconds(1), holding: 0))
            }
        default: return .later
        }
    }

    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
        tasks.wrappingAdd(1, ordering: .relaxed)
        let fields = Self.fields(of: request)
        switch request.path {
        case "/wait":
            await waitAtGate()
            return ServerResponse(.ok, fields)
        // Reads nothing until the gate opens.
        case "/slow": await waitAtGate()
        case "/wait-long":
            await waitAtGate()
            return ServerResponse(.ok, fields, body: .buffer(ByteBuffer(repeating: 1, count: 1 << 20)))
        case "/work":
            await waitAtGate()
            if !Task.isCancelled { worked.wrappingAdd(1, ordering: .relaxed) }
            return ServerResponse(.ok, fields)
        // A body whose length is not the announced one.
        case "/short", "/long":
            return ServerResponse(
                .ok, fields,
                body: .stream(length: request.path == "/short" ? 1_001 : 1_999) { writer in
                    try await writer.write(Self.piece(0))
                    if request.path == "/long" { try await writer.write(Self.piece(1)) }
                })
        // A streamed body in a response that cannot have a body.
        case "/streamed-304":
            return ServerResponse(
                .notModified, fields, body: .stream(length: nil) { try await $0.write(Self.piece(0)) })
        case "/nothing": return ServerResponse(.ok, body: .cut)
        case "/unread": return ServerResponse(.forbidden, fields, body: .bytes(Array("no".utf8)))
        case "/stream", "/cut":
            return ServerResponse(
                .ok, fields,
                body: .stream(length: nil) { writer in
                    for number in 0..<8 { try await writer.write(Self.piece(number)) }
                    if request.path == "/cut" { throw ChannelError.eof }
                })
        // A body that is never read to its end.
        case "/endless":
            var response = ServerResponse(
                .ok, fields,
                body: .stream(length: nil) { [self] writer in
                    defer { worked.wrappingAdd(1, ordering: .relaxed) }
                    while true { try await writer.write(Self.piece(0)) }
                })
            response.timeLimit = .milliseconds(20)
            return response
        case "/large":
            return ServerResponse(.ok, fields, body: .buffer(ByteBuffer(repeating: 1, count: 1 << 20)))
        default: break
        }
        var bytes = ByteBuffer()
        do {
            for try await piece in body {
                read.wrappingAdd(piece.readableBytes, ordering: .relaxed)
                bytes.writeImmutableBuffer(piece)
            }
        } catch {
            return ServerResponse(.badRequest, fields)
        }
        return ServerResponse(.ok, fields, body: .buffer(bytes))
    }

    func refusal(of defect: RequestDefect) -> ServerResponse {
        switch defect {
        case .syntax: ServerResponse(.badRequest, [Self.requestID: "syntax"])
        case .headerLength: ServerResponse(.requestHeaderFieldsTooLarge, [Self.requestID: "length"])
        case .host: ServerResponse(.badRequest, [Self.requestID: "host"])
        case .transferCoding: ServerResponse(.notImplemented, [Self.requestID: "coding"])
        }
    }

    static func piece(_ number: Int) -> ByteBuffer { ByteBuffer(repeating: UInt8(number), count: 1_000) }

    private static func fields(of request: ServerRequest) -> HTTPFields {
        request.fields[requestID].map { [requestID: $0] } ?? [:]
    }

    private func waitAtGate() async {
        await withCheckedContinuation { continuation in
            let isOpen = gate.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Lets all waiting and later tasks continue.
    func openGate() {
        let waiting = gate.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }
}
