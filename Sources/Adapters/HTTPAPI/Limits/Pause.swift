import Synchronization

/// The delay of a refusal, and of the requests behind it on the connection.
///
/// Three kinds of refusals are delayed: a rate limit is reached, too many requests run at once, or the database does not respond.
/// Without a delay, a client that ignores `Retry-After` could repeat such requests endlessly and use up the processor. The delay is
/// one second, the smallest value of `Retry-After`. A client with more than a hundred delayed responses waits longer, so that it
/// gets about a hundred per second over all of its connections.
///
/// A delay blocks a connection. A proxy's connection may serve other clients, so the number of delayed responses behind proxies is
/// limited. Further responses are sent at once.
final class Pause: Sendable {
    let duration: Duration
    private let client: Client
    private let count: Count

    private init(_ duration: Duration, _ client: Client, _ count: Count) {
        self.duration = duration
        self.client = client
        self.count = count
    }

    deinit { count.release(client) }

    /// Waits for the delay.
    func wait() async { await count.sleep(duration) }

    /// The number of delayed responses: per client, and on connections of proxies.
    final class Count: Sendable {
        private struct Held {
            var clients: [Client.Address: Int] = [:]
            var behindProxies = 0
        }

        private let held = Mutex(Held())
        private let maximum: Int
        fileprivate let sleep: @Sendable (Duration) async -> Void

        /// - Parameters:
        ///   - maximum: The most delayed responses behind proxies. The default is below the number of a proxy's connections. [ours]
        ///   - sleep: Waits; a test can replace it.
        init(maximum: Int = 1_000, sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep) {
            self.maximum = maximum
            self.sleep = sleep
        }

        /// Counts a delayed response until the result is released. Nil if too many responses are delayed.
        func pause(for client: Client) -> Pause? {
            let count: Int? = held.withLock { held in
                guard !client.isBehindProxy || held.behindProxies < maximum else { return nil }
                if client.isBehindProxy { held.behindProxies += 1 }
                held.clients[client.address, default: 0] += 1
                return held.clients[client.address]
            }
            return count.map { Pause(Pause.duration(ofAnswer: $0), client, self) }
        }

        fileprivate func release(_ client: Client) {
            held.withLock { held in
                if client.isBehindProxy { held.behindProxies -= 1 }
                let count = held.clients[client.address] ?? 0
                held.clients[client.address] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// - Parameter number: The number of the client's delayed responses, including this one.
    /// - Returns: 10 ms for each delayed response, but at least 1 and at most 5 seconds. [ours]
    static func duration(ofAnswer number: Int) -> Duration {
        .milliseconds(min(max(number * 10, 1_000), 5_000))
    }

    /// Waits, and returns early if the task is cancelled.
    static let sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
}
