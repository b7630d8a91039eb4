import Synchronization

/// The time that an answer to who asks too much is held back, and the requests behind it with it: one second, the least
/// that `Retry-After` can say. A client that does not heed it is slowed down, and costs the others next to nothing.
///
/// So are answers to who has more under way than may be, and to those who wait for a database that does not answer: either
/// can be asked for without end at once, and would take the processor from what is answered. A client that has more than a
/// hundred of them held back waits for as much longer, so that it gets some hundred a second from however many connections.
///
/// A client holds its own connection. A proxy's could be wanted by others, so that only so many of these are held at once:
/// beyond that the answers go out undelayed.
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

    /// Lets the time go by.
    func wait() async { await count.sleep(duration) }

    /// How many answers are held back: of each client, and on connections of proxies.
    final class Count: Sendable {
        private struct Held {
            var clients: [Client.Address: Int] = [:]
            var behindProxies = 0
        }

        private let held = Mutex(Held())
        private let maximum: Int
        fileprivate let sleep: @Sendable (Duration) async -> Void

        /// - Parameters:
        ///   - maximum: 1,000 unless it is said otherwise: a proxy has more connections than that [ours].
        ///   - sleep: The clock's, which a test can replace.
        init(maximum: Int = 1_000, sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep) {
            self.maximum = maximum
            self.sleep = sleep
        }

        /// Nil when too many are held. It counts until it is let go.
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

    /// - Parameter number: how many of the client's are held back with it.
    /// - Returns: 1 second, and for more than a hundred as many hundredths, up to 5 seconds [ours].
    static func duration(ofAnswer number: Int) -> Duration {
        .milliseconds(min(max(number * 10, 1_000), 5_000))
    }

    /// Ends early where the task is cancelled.
    static let sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
}
