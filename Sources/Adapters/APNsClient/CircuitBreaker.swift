public import NIOCore

/// Stops sending if so many device tokens are bad that there must be a common cause. Examples are tokens of the other environment
/// and an outdated table. APNs shortens the life of connections that see many bad tokens [observed].
///
/// It is closed in normal operation and opens for a pause after failures. Then one request is admitted, and its response
/// decides. All numbers are ours.
public struct CircuitBreaker: Sendable {
    /// When it opens, and for how long.
    public struct Thresholds: Sendable {
        /// The number of last responses that count.
        public var responses = 200
        /// How old they may be.
        public var age = TimeAmount.seconds(60)
        /// It opens when so many of them are bad,
        public var bad = 50
        /// and this share of them.
        public var share = 0.5
        /// The maximum number of bad ones of one tenant that count for its team.
        public var badOfOneTenant = 10
        /// The first time it is open; each time the probe is bad, twice as long.
        public var firstPause = TimeAmount.seconds(30)
        public var longestPause = TimeAmount.minutes(30)

        public init() {}
    }

    /// Whether a request may be sent.
    enum Admission: Hashable {
        case admitted
        /// The request is admitted as the probe: its response decides.
        case asProbe
        case refused
    }

    private enum State {
        case closed
        case open(until: NIODeadline)
        case probing
    }

    private let thresholds: Thresholds
    private var state = State.closed
    private var pause: TimeAmount
    private var responses = CircularBuffer<(at: NIODeadline, isBad: Bool)>()
    private var bad = 0

    init(_ thresholds: Thresholds) {
        self.thresholds = thresholds
        pause = thresholds.firstPause
    }

    /// Whether a request may be sent now.
    mutating func admission(at now: NIODeadline) -> Admission {
        switch state {
        case .closed: return .admitted
        case .open(let until) where now >= until:
            state = .probing
            return .asProbe
        case .open, .probing: return .refused
        }
    }

    /// The number of bad ones among the counted responses; nil while it is not closed.
    var badCount: Int? {
        if case .closed = state { bad } else { nil }
    }

    /// Whether it is closed, and knows nothing that a new one does not.
    func isIdle(at now: NIODeadline) -> Bool {
        guard case .closed = state, pause == thresholds.firstPause else { return false }
        return responses.last.map { now - $0.at > thresholds.age } ?? true
    }

    /// Counts a response.
    /// - Returns: how long the breaker is open, when this opened it.
    mutating func note(isBad: Bool, isProbe: Bool, at now: NIODeadline) -> TimeAmount? {
        switch state {
        case .open: return nil
        case .probing:
            guard isProbe else { return nil }
            if isBad {
                pause = min(pause * 2, thresholds.longestPause)
                return open(at: now)
            }
            pause = thresholds.firstPause
            state = .closed
            return nil
        case .closed:
            responses.append((now, isBad))
            if isBad { bad += 1 }
            while let oldest = responses.first,
                responses.count > thresholds.responses || now - oldest.at > thresholds.age
            {
                if responses.removeFirst().isBad { bad -= 1 }
            }
            guard bad >= thresholds.bad, Double(bad) >= thresholds.share * Double(responses.count) else {
                return nil
            }
            return open(at: now)
        }
    }

    /// The probe came to nothing: the next request is one.
    mutating func probeWasLost(at now: NIODeadline) {
        if case .probing = state { state = .open(until: now) }
    }

    private mutating func open(at now: NIODeadline) -> TimeAmount {
        state = .open(until: now + pause)
        responses.removeAll(keepingCapacity: true)
        bad = 0
        return pause
    }
}
