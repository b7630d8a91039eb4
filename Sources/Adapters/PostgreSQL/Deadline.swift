/// A moment that ends all waiting; it advances while the machine sleeps.
struct Deadline: Sendable, Comparable {
    let instant: ContinuousClock.Instant?

    static let never = Deadline(instant: nil)

    /// A duration beyond a human life is cut: the sum must not overflow.
    static func after(_ duration: Duration) -> Deadline {
        Deadline(instant: .now + min(max(duration, .zero), .seconds(3_000_000_000)))
    }

    /// The remaining time for `poll`: rounded up so that it never returns early, −1 for ever, 0 after the deadline.
    var pollMilliseconds: Int32 {
        guard let instant else { return -1 }
        let left = instant - .now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    var hasPassed: Bool { pollMilliseconds == 0 }

    static func < (one: Deadline, other: Deadline) -> Bool {
        guard let instant = one.instant else { return false }
        guard let later = other.instant else { return true }
        return instant < later
    }

    /// An equal part of the time that is left.
    func share(of parts: Int) -> Deadline {
        guard let instant else { return self }
        return Deadline(instant: .now + (instant - .now) / parts)
    }
}
