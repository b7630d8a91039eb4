import Synchronization

/// The time that an answer to who asks too much is held back, and the requests behind it with it: one second, the least
/// that `Retry-After` can say. A client that does not heed it is slowed down, and costs the others next to nothing.
///
/// A client holds its own connection. A proxy's could be wanted by others, so that only so many of these are held at once:
/// beyond that the answers go out undelayed.
final class Pause: Sendable {
    static let duration = Duration.seconds(1)

    private let held: Count?

    private init(_ held: Count?) {
        self.held = held
    }

    deinit { held?.release() }

    /// How many answers are held back on connections of proxies.
    final class Count: Sendable {
        private let count = Atomic(0)
        private let maximum: Int

        /// - Parameter maximum: 1,000 unless it is said otherwise: a proxy has more connections than that [ours].
        init(maximum: Int = 1_000) {
            self.maximum = maximum
        }

        /// Nil when too many are held. It counts until it is let go.
        func pause(for client: Client) -> Pause? {
            guard client.isBehindProxy else { return Pause(nil) }
            guard count.wrappingAdd(1, ordering: .relaxed).newValue <= maximum else {
                release()
                return nil
            }
            return Pause(self)
        }

        fileprivate func release() { count.wrappingSubtract(1, ordering: .relaxed) }
    }
}
