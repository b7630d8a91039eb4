import DoorstepClient
import Formats
import Foundation
import Synchronization

/// Responds with a closure, and stores the requests.
final class ScriptedTransport: HTTPTransport {
    typealias Response = Result<TransportResponse, TransportFailure>

    private let requests = Mutex<[TransportRequest]>([])
    private let response: @Sendable (TransportRequest, Int) async -> Response

    /// - Parameter response: Receives the request, and the number of earlier requests.
    init(_ response: @escaping @Sendable (TransportRequest, Int) async -> Response) {
        self.response = response
    }

    /// Sends the responses one after another, and repeats the last one.
    convenience init(_ responses: Response...) {
        self.init { _, number in responses[min(number, responses.count - 1)] }
    }

    var sent: [TransportRequest] { requests.withLock { $0 } }

    /// Methods, paths and queries.
    var targets: [String] { sent.map { "\($0.method) \($0.target)" } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let number = requests.withLock { requests in
            requests.append(request)
            return requests.count - 1
        }
        return try await response(request, number).get()
    }
}

extension TransportRequest {
    var target: String { url.path + (url.query.map { "?" + $0 } ?? "") }

    /// A member of the body.
    subscript(member: String) -> JSONValue? {
        body.flatMap { try? JSONValue(parsing: $0) }?.objectValue?[member]
    }
}

extension Result<TransportResponse, TransportFailure> {
    static func json(_ status: Int, _ body: JSONValue, _ fields: [String: String] = [:]) -> Self {
        .success(TransportResponse(status: status, fields: fields, body: Data(body.serialized())))
    }

    static func problem(_ status: Int, _ code: String, _ fields: [String: String] = [:]) -> Self {
        json(status, ["code": .string(code), "title": "A title", "status": JSONValue(status)], fields)
    }
}

/// A clock that advances only during a pause.
final class ManualClock: SessionClock {
    private let state: Mutex<(now: Date, pauses: [Duration])>

    init(_ now: Date = Date(timeIntervalSince1970: 1_780_000_000)) {
        state = Mutex((now, []))
    }

    var now: Date { state.withLock { $0.now } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    func advance(by seconds: TimeInterval) { state.withLock { $0.now += seconds } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        state.withLock {
            $0.now += duration / .seconds(1)
            $0.pauses.append(duration)
        }
    }
}

/// A container in memory. Two sessions that share it are App Clip and full app.
final class MemoryContainer: SharedContainer {
    struct Broken: Error {}

    private let items = Mutex<[ContainerItem: Data]>([:])
    let isBroken: Bool

    init(isBroken: Bool = false) { self.isBroken = isBroken }

    func read(_ item: ContainerItem) throws -> Data? {
        if isBroken { throw Broken() }
        return items.withLock { $0[item] }
    }

    func write(_ data: Data, to item: ContainerItem) throws {
        if isBroken { throw Broken() }
        items.withLock { $0[item] = data }
    }

    func establish(_ data: Data, as item: ContainerItem) throws -> Data {
        if isBroken { throw Broken() }
        return items.withLock { items in
            let present = items[item] ?? data
            items[item] = present
            return present
        }
    }

    func remove(_ item: ContainerItem) throws { items.withLock { $0[item] = nil } }
}

/// Sample values for sessions.
enum Sample {
    static let key = "dpk_not-a-real-key"
    static let clip = "com.example.MyApp.Clip"
    static let restaurant = URL(string: "https://example.com/restaurants/restaurant_a/order/1234")!
    static let instance: JSONValue = [
        "id": "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10", "clip": .string(clip), "app": "clip",
        "environment": "production", "permission": "ephemeral", "launchedAt": "2026-05-28T20:26:40Z",
        "reachableUntil": "2026-05-29T04:26:40Z", "hasToken": true, "startTokens": [], "activities": [],
        "launches": [],
    ]

    static func lookup(_ name: String? = "Restaurant A") -> JSONValue {
        [
            "url": .string(restaurant.absoluteString),
            "experience": [
                "url": "https://example.com/restaurants/restaurant_a", "kind": "advanced",
                "clip": .string(clip),
            ], "location": place(name),
        ]
    }

    static func place(_ name: String?) -> JSONValue {
        [
            "identifier": "restaurant_a", "name": name.map(JSONValue.string) ?? .null,
            "details": ["phone": "+1 408 555 0100"],
            "region": [
                "center": ["latitude": 37.334722, "longitude": -122.008889], "radius": 100,
                "identifier": "restaurant_a",
            ],
        ]
    }

    static func configuration(_ app: ClipConfiguration.RunningApp = .clip) -> ClipConfiguration {
        ClipConfiguration(
            server: URL(string: "https://doorstep.example.com/")!, publishableKey: key, clip: clip,
            runningApp: app)
    }
}
