public import Formats
import HTTPServer
import HTTPTypes
import NIOCore

/// The control of a simulator in another process, over plain HTTP. It has a separate port on the loopback address, because APNs has
/// no such endpoints.
///
/// - `GET /rules`, `PUT /rules` (an array), `POST /rules` (adds one), `DELETE /rules`
/// - `GET /requests` (the judged ones), `DELETE /requests`
/// - `GET /counters`
/// - `POST /goaway` (all connections; `?reason=`), `POST /cut` (all connections), `POST /streams?count=`
struct SimulatorControl: ServerResponder {
    private let simulator: SimulatorActions

    /// The maximum length of a list of rules.
    private static let maximumBody = 1 << 20

    init(_ simulator: SimulatorActions) {
        self.simulator = simulator
    }

    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply { .later }

    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
        guard let bytes = try? await body.bytes(upTo: Self.maximumBody) else {
            return ServerResponse(.contentTooLarge)
        }
        let (status, value) = response(request, bytes)
        let content = value.map { ServerResponse.Body.bytes($0.serialized()) }
        return ServerResponse(status, [.contentType: "application/json"], body: content ?? .empty)
    }

    func refusal(of defect: RequestDefect) -> ServerResponse { ServerResponse(.badRequest) }

    private func response(_ request: ServerRequest, _ body: [UInt8]) -> (HTTPResponse.Status, JSONValue?) {
        let query = String(request.query)
        do throws(JSONFieldError) {
            switch (request.method, request.path) {
            case ("GET", "/rules"):
                return (.ok, .array(simulator.state.rules.map { .object($0.json) }))
            case ("PUT", "/rules"):
                guard let values = try json(body).arrayValue else {
                    throw .invalid(path: "", reason: "must be an array")
                }
                var rules: [Rule] = []
                for value in values { rules.append(try Rule(json: value)) }
                simulator.state.rules = rules
            case ("POST", "/rules"): simulator.state.append(try Rule(json: try json(body)))
            case ("DELETE", "/rules"): simulator.state.rules = []
            case ("GET", "/requests"):
                return (.ok, .array(simulator.state.received.map { .object($0.json) }))
            case ("DELETE", "/requests"): simulator.state.forgetReceived()
            case ("GET", "/counters"): return (.ok, .object(simulator.state.counters.json))
            case ("POST", "/goaway"):
                simulator.fire(.goAway(reason: Self.value("reason", in: query) ?? "Shutdown"))
            case ("POST", "/cut"): simulator.fire(.cut)
            case ("POST", "/streams"):
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

    private func json(_ body: [UInt8]) throws(JSONFieldError) -> JSONValue {
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
}

/// An immediate action on all connections.
struct SimulatorActions: Sendable {
    let state: SimulatorState

    /// Performs an action on all connections.
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
    /// The counters by name.
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
