import Synchronization

/// The time that an answer to who asks too much is held back, and the requests behind it with it: one second, the least
/// that `Retry-After` can say. A client that does not heed it is slowed down, and costs the others next to nothing.
///
/// So are answers to who has more under way than may be, and to those who wait for a database that does not answer: either
/// can be asked for without end at once, and would take the processor from what is answered.
///
/// A client holds its own connection. A proxy's could be wanted by others, so that only so many of these are held at once:
/// beyond that the answers go out undelayed.
final class Pause: Sendable {
    static let duration = Duration.seconds(1)

    private let held: Count?
    private let sleep: @Sendable (Duration) async -> Void

    private init(_ held: Count?, _ sleep: @escaping @Sendable (Duration) async -> Void) {
        self.held = held
        self.sleep = sleep
    }

    deinit { held?.release() }

    /// Lets the time go by.
    func wait() async { await sleep(Self.duration) }

    /// How many answers are held back on connections of proxies.
    final class Count: Sendable {
        private let count = Atomic(0)
        private let maximum: Int
        private let sleep: @Sendable (Duration) async -> Void

        /// - Parameters:
        ///   - maximum: 1,000 unless it is said otherwise: a proxy has more connections than that [ours].
        ///   - sleep: The clock's, which a test can replace.
        init(maximum: Int = 1_000, sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep) {
            self.maximum = maximum
            self.sleep = sleep
        }

        /// Nil when too many are held. It counts until it is let go.
        func pause(for client: Client) -> Pause? {
            guard client.isBehindProxy else { return Pause(nil, sleep) }
            guard count.wrappingAdd(1, ordering: .relaxed).newValue <= maximum else {
                release()
                return nil
            }
            return Pause(self, sleep)
        }

        fileprivate func release() { count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Ends early where the task is cancelled.
    static let sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
}
