import Formats
import Foundation
import Synchronization
import Testing

/// Sends notifications one after another and repeats each one with its `Idempotency-Key` until it is accepted.
final class NotificationLoad: Sendable {
    static let alert = "Your order is ready."
    static let url = "https://example.com/restaurants/restaurant_a/order/1234"

    private struct State {
        var accepted: [String] = []
        var problems: [String] = []
        var isStopping = false
        var waiter: (goal: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let server: SupervisedServer
    private let installation: Installation
    private let deviceCount: Int
    private let state = Mutex(State())

    init(_ server: SupervisedServer, _ installation: Installation, deviceCount: Int) {
        self.server = server
        self.installation = installation
        self.deviceCount = deviceCount
    }

    /// The IDs of the notifications that were accepted.
    var accepted: [String] { state.withLock(\.accepted) }

    /// Unexpected responses.
    var problems: [String] { state.withLock(\.problems) }

    func stop() { state.withLock { $0.isStopping = true } }

    /// Waits until this number of further notifications are accepted, or sending has ended.
    func wait(forMore count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isStopping { return true }
                state.waiter = (state.accepted.count + count, continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    func run() async {
        var number = 0
        while !state.withLock(\.isStopping) {
            number += 1
            await send(number)
        }
    }

    private func send(_ number: Int) async {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            do {
                let response = try await server.send(
                    "POST", "/v1/notifications", key: installation.secret, idempotencyKey: "chaos-\(number)",
                    [
                        "url": .string(Self.url), "aps": ["alert": .string(Self.alert)],
                        "custom": ["number": JSONValue(number)], "audience": ["business": true],
                    ])
                switch response.status {
                case 200, 201: return accept(response)
                // The response of a server without its database.
                case 503: continue
                default: return fail("notification \(number) was answered \(response.status)")
                }
            } catch {
                // The server is dead. The request is repeated with the same key.
                continue
            }
        }
        fail("notification \(number) was not accepted in time")
    }

    private func accept(_ response: SupervisedServer.Answer) {
        let id = response["id"]?.stringValue
        let deliveries = response["deliveries"]?.arrayValue?.count
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.accepted.append(id ?? "")
            if deliveries != deviceCount {
                state.problems.append("\(id ?? "?") has \(deliveries.map(String.init) ?? "no") deliveries")
            }
            guard let waiter = state.waiter, state.accepted.count >= waiter.goal else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    private func fail(_ problem: String) {
        let waiter = state.withLock { state in
            state.problems.append(problem)
            state.isStopping = true
            defer { state.waiter = nil }
            return state.waiter?.continuation
        }
        waiter?.resume()
    }
}
