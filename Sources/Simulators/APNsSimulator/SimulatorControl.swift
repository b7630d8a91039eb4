public import JSON
import NIOCore
import NIOHTTP1

/// How a simulator that is a process of its own is told what to do, and asked what it was sent: plain HTTP on a port of
/// its own, for this machine alone, since APNs has nothing like it.
///
/// - `GET /rules`, `PUT /rules` (an array), `POST /rules` (one more), `DELETE /rules`
/// - `GET /requests` (those it has looked at), `DELETE /requests`
/// - `GET /counters`
/// - `POST /goaway` (all connections; `?reason=`), `POST /cut` (all connections), `POST /streams?count=`
///
/// Belongs to its channel's event loop.
final class SimulatorControl: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let simulator: SimulatorActions
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    /// More is no list of rules.
    private static let maximumBody = 1 << 20

    init(_ simulator: SimulatorActions) {
        self.simulator = simulator
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let piece):
            if body.count < Self.maximumBody { body += piece.readableBytesView }
        case .end:
            guard let head else { return }
            self.head = nil
            let (status, value) = response(head)
            write(status, value, keepAlive: head.isKeepAlive, context: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func response(_ head: HTTPRequestHead) -> (HTTPResponseStatus, JSONValue?) {
        let parts = head.uri.split(separator: "?", maxSplits: 1)
        let path = parts.first.map(String.init) ?? ""
        let query = parts.count > 1 ? String(parts[1]) : ""
        do throws(JSONFieldError) {
            switch (head.method, path) {
            case (.GET, "/rules"):
                return (.ok, .array(simulator.state.rules.map { .object($0.json) }))
            case (.PUT, "/rules"):
                guard let values = (try json()).arrayValue else {
                    throw .invalid(path: "", reason: "must be an array")
                }
                var rules: [Rule] = []
                for value in values { rules.append(try Rule(json: value)) }
                simulator.state.rules = rules
            case (.POST, "/rules"): simulator.state.append(try Rule(json: try json()))
            case (.DELETE, "/rules"): simulator.state.rules = []
            case (.GET, "/requests"):
                return (.ok, .array(simulator.state.received.map { .object($0.json) }))
            case (.DELETE, "/requests"): simulator.state.forgetReceived()
            case (.GET, "/counters"): return (.ok, .object(simulator.state.counters.json))
            case (.POST, "/goaway"):
                simulator.fire(.goAway(reason: Self.value("reason", in: query) ?? "Shutdown"))
            case (.POST, "/cut"): simulator.fire(.cut)
            case (.POST, "/streams"):
                guard let count = Self.value("count", in: query).flatMap(Int.init), count >= 0,
                    count <= Int(Int32.max)
                else { throw .invalid(path: "count", reason: "must be a number of streams") }
                simulator.fire(.streams(count))
            default: return (.notFound, ["error": "There is nothing at this path for this method."])
            }
            return (.noContent, nil)
        } catch {
            return (.badRequest, ["error": .string("\(error)")])
        }
    }

    private func json() throws(JSONFieldError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            throw .invalid(path: "", reason: "is no JSON: \(error)")
        }
    }

    private static func value(_ name: String, in query: String) -> String? {
        for pair in query.split(separator: "&") where pair.hasPrefix(name + "=") {
            return String(pair.dropFirst(name.count + 1))
        }
        return nil
    }

    private func write(
        _ status: HTTPResponseStatus, _ value: JSONValue?, keepAlive: Bool, context: ChannelHandlerContext
    ) {
        let bytes = value?.serialized() ?? []
        var headers: HTTPHeaders = ["content-type": "application/json"]
        if status != .noContent { headers.add(name: "content-length", value: String(bytes.count)) }
        if !keepAlive { headers.add(name: "connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil)
        if !bytes.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !keepAlive {
            written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }
}

/// What a simulator can be made to do at once.
struct SimulatorActions: Sendable {
    let state: SimulatorState

    /// Makes all connections do something.
    func fire(_ event: SimulatorEvent) {
        for channel in state.channels { channel.pipeline.fireUserInboundEventTriggered(event) }
    }
}

extension ReceivedRequest {
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "connection": JSONValue(connection), "path": .string(path), "id": .string(id),
            "payload": .string(String(decoding: payload, as: UTF8.self)),
            "status": status.map { JSONValue($0) } ?? .null,
        ]
        if let device { object["device"] = .string(device) }
        if let topic { object["topic"] = .string(topic) }
        if let reason { object["reason"] = .string(reason) }
        return object
    }
}

extension SimulatorCounters {
    /// By their names.
    public var json: JSONObject {
        [
            "connections": JSONValue(connections), "refusedConnections": JSONValue(refusedConnections),
            "openConnections": JSONValue(openConnections), "requests": JSONValue(requests),
            "accepted": JSONValue(accepted),
            "refused": JSONValue(refused),
            "unanswered": JSONValue(unanswered), "turnedAway": JSONValue(turnedAway),
            "streamOverruns": JSONValue(streamOverruns), "mostStreams": JSONValue(mostStreams),
            "verifiedTokens": JSONValue(verifiedTokens),
        ]
    }
}
