public import Synchronization

/// A rate limiter by the generic cell rate algorithm: it stores only one time per key.
///
/// The time is when the used part of the burst will be available again ("theoretical arrival time"). An
/// event is refused, and leaves no trace, if that time is further ahead than a burst takes. Safe from any
/// number of tasks; never blocks for long.
///
/// It stores at most `capacity` keys. If that many are in use, a new key shares one limit with all keys
/// that its hash assigns to the same shard. Memory stays bounded, and no client evades a limit with
/// invented keys.
///
/// Source: ATM Forum, "Traffic Management Specification" 4.1, 4.4.2 (the algorithm, as virtual scheduling).
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    @usableFromInline struct Shard {
        @usableFromInline var arrivals: [Key: Int64] = [:]
        /// The arrival time of all keys for which there was no room.
        @usableFromInline var shared: Int64 = .min
        /// The time of the last deletion of unneeded keys, and the number of keys that triggers the next
        /// one.
        var sweptAt: Int64 = .min
        @usableFromInline var sweepCount = 256
    }

    /// Several shards, so that two threads seldom need the same lock.
    @usableFromInline let shards: [Mutex<Shard>.Box]
    @usableFromInline let capacity: Int
    @usableFromInline let start: ContinuousClock.Instant

    /// - Parameter now: The earliest time that it will be called with.
    public init(capacity: Int = 1_048_576, shards: Int = 64, from now: ContinuousClock.Instant = .now) {
        self.shards = (0..<shards).map { _ in Mutex<Shard>.Box(Shard()) }
        self.capacity = max(1, capacity / shards)
        start = now
    }

    /// The number of stored keys.
    public var count: Int { shards.reduce(0) { $0 + $1.mutex.withLock { $0.arrivals.count } } }

    /// Counts one event for a key, unless that would exceed the limit.
    ///
    /// Inlinable, since each request calls it: code that is not specialized for the key's type reads its
    /// metadata each time.
    @inlinable
    public func take(_ key: Key, _ limit: RateLimit, at now: ContinuousClock.Instant) -> RateLimitState {
        let now = (now - start).nanoseconds
        return shard(of: key).mutex.withLock { shard in
            // By index, so that the key is hashed only once to find and to change it.
            if let place = shard.arrivals.index(forKey: key) {
                let arrival = shard.arrivals.values[place]
                let kept = limit.reach(of: arrival, at: now)
                let (state, next) = limit.take(kept, at: now)
                if let next = next ?? (kept == arrival ? nil : kept) { shard.arrivals.values[place] = next }
                return state
            }
            if shard.arrivals.count >= min(shard.sweepCount, capacity) { sweep(&shard, at: now) }
            guard shard.arrivals.count < capacity else {
                let (state, next) = limit.take(shard.shared, at: now)
                if let next { shard.shared = next }
                return state
            }
            let (state, next) = limit.take(.min, at: now)
            shard.arrivals[key] = next
            return state
        }
    }

    /// Counts further events for a key, because an admitted one cost more than one.
    ///
    /// Never refuses. A charge beyond the rest of the burst becomes a debt: later requests wait until it is
    /// paid. The debt is at most one more burst, or the rate of one second if that is more.
    public func charge(
        _ count: Int, to key: Key, _ limit: RateLimit, at now: ContinuousClock.Instant
    )
        -> RateLimitState
    {
        let now = (now - start).nanoseconds
        return shard(of: key).mutex.withLock { shard in
            if let arrival = shard.arrivals[key] {
                let (state, next) = limit.charge(count, limit.reach(of: arrival, at: now), at: now)
                shard.arrivals[key] = next
                return state
            }
            let (state, next) = limit.charge(count, shard.shared, at: now)
            if shard.arrivals.count >= capacity { shard.shared = next }
            return state
        }
    }

    /// Removes one counted event of a key, because it did not take place.
    public func giveBack(_ key: Key, _ limit: RateLimit) {
        shard(of: key).mutex.withLock { shard in
            if let arrival = shard.arrivals[key] {
                shard.arrivals[key] = arrival - limit.interval
            } else if shard.arrivals.count >= capacity, shard.shared != .min {
                shard.shared -= limit.interval
            }
        }
    }

    @inlinable
    func shard(of key: Key) -> Mutex<Shard>.Box {
        shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    /// Deletes keys whose whole burst is available: they are like new ones.
    ///
    /// It visits all keys, so it runs again only when their number has doubled since; for a full shard, at
    /// most once per second.
    @usableFromInline
    func sweep(_ shard: inout Shard, at now: Int64) {
        guard
            shard.arrivals.count < capacity || shard.sweptAt == .min || now - shard.sweptAt >= 1_000_000_000
        else { return }
        shard.sweptAt = now
        shard.arrivals = shard.arrivals.filter { $0.value > now }
        shard.sweepCount = max(256, 2 * shard.arrivals.count)
    }
}

extension RateLimit {
    /// Returns the arrival time, limited to that of an exhausted burst if it is further ahead than
    /// ``charge(_:_:at:)`` puts it. A slower limit that no longer applies has set such a time, and it could
    /// last for days. Differences between the clocks of two threads do not reach that far.
    @usableFromInline
    func reach(of arrival: Int64, at now: Int64) -> Int64 {
        let usedUp = now + interval * Int64(burst)
        return arrival > usedUp + mostOwed ? usedUp : arrival
    }

    /// The maximum distance beyond an exhausted burst to which a charge moves the arrival time. [ours]
    @usableFromInline var mostOwed: Int64 { max(interval * Int64(burst), 1_000_000_000) }

    /// - Returns: The state after these events, and the new arrival time.
    func charge(_ count: Int, _ arrival: Int64, at now: Int64) -> (RateLimitState, next: Int64) {
        let tolerance = interval * Int64(burst)
        let next = min(
            max(arrival, now) + interval * Int64(count), max(arrival, now + tolerance + mostOwed))
        let remaining = max(0, Int((tolerance - (next - now)) / interval))
        return (RateLimitState(limit: self, remaining: remaining, untilFull: next - now, untilNext: 0), next)
    }

    /// - Returns: The state at a time, and the new arrival time; nil if it does not change.
    @usableFromInline
    func take(_ arrival: Int64, at now: Int64) -> (RateLimitState, next: Int64?) {
        let tolerance = interval * Int64(burst)
        let next = max(arrival, now) + interval
        guard next - now <= tolerance else {
            let state = RateLimitState(
                limit: self, remaining: 0, untilFull: arrival - now, untilNext: next - now - tolerance)
            return (state, nil)
        }
        let remaining = Int((tolerance - (next - now)) / interval)
        return (RateLimitState(limit: self, remaining: remaining, untilFull: next - now, untilNext: 0), next)
    }
}

extension Mutex where Value: ~Copyable {
    /// A mutex in a class, so that an array can contain it.
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let mutex: Mutex<Value>

        init(_ value: consuming sending Value) {
            mutex = Mutex(value)
        }
    }
}

extension Duration {
    @usableFromInline
    var nanoseconds: Int64 {
        Int64(attoseconds / 1_000_000_000)
    }
}
