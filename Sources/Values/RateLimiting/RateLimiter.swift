public import Synchronization

/// Admits what stays within limits, by the generic cell rate algorithm: of each key it remembers one time and no more.
///
/// The time is when a burst used up so far would be there again ("theoretical arrival time"). What comes when that is
/// further ahead than a burst takes is refused, and leaves no trace. Safe from any number of tasks; never waits for long.
///
/// It remembers at most `capacity` keys. When as many are in use, what is new shares one limit with whatever else its
/// hash puts beside it: memory stays bounded, and nobody gets around a limit by inventing keys.
///
/// Source: ATM Forum, "Traffic Management Specification" 4.1, 4.4.2 (the algorithm, as virtual scheduling).
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    @usableFromInline struct Shard {
        @usableFromInline var arrivals: [Key: Int64] = [:]
        /// Of all keys that found no place.
        @usableFromInline var shared: Int64 = .min
        /// When it was last looked for keys that need not be remembered, and at how many it will be again.
        var sweptAt: Int64 = .min
        @usableFromInline var sweepCount = 256
    }

    /// So that two threads seldom want the same one.
    @usableFromInline let shards: [Mutex<Shard>.Box]
    @usableFromInline let capacity: Int
    @usableFromInline let start: ContinuousClock.Instant

    /// - Parameter now: The earliest time that it will be asked about.
    public init(capacity: Int = 1_048_576, shards: Int = 64, from now: ContinuousClock.Instant = .now) {
        self.shards = (0..<shards).map { _ in Mutex<Shard>.Box(Shard()) }
        self.capacity = max(1, capacity / shards)
        start = now
    }

    /// How many keys are remembered.
    public var count: Int { shards.reduce(0) { $0 + $1.mutex.withLock { $0.arrivals.count } } }

    /// Counts one for a key, unless that would break the limit.
    ///
    /// Inlinable, since each request does it: what does not know the key's type asks for its metadata each time.
    @inlinable
    public func take(_ key: Key, _ limit: RateLimit, at now: ContinuousClock.Instant) -> RateLimitState {
        let now = (now - start).nanoseconds
        return shard(of: key).mutex.withLock { shard in
            // By its place, so that the key is hashed once to find and to change it.
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

    /// Counts more for a key, because what was admitted has cost more than one.
    ///
    /// Never refuses. A charge beyond the rest of the burst is owed: the next requests wait until it is made up for. At most one
    /// more burst is owed, or what a second makes up for if that is more.
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

    /// Takes back one that was counted for a key: what it was counted for did not happen.
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

    /// Forgets keys whose whole burst is there: they are like new.
    ///
    /// It looks at all, and so not again before there are twice as many as it left; of a shard that is full, at most once
    /// a second.
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
    /// The arrival time, or that of a burst that is used up if the time is further ahead than ``charge(_:_:at:)`` puts it. A slower
    /// limit has put it there, which no longer holds and could last for days. Two threads' clocks, read at different times, are
    /// no such case.
    @usableFromInline
    func reach(of arrival: Int64, at now: Int64) -> Int64 {
        let usedUp = now + interval * Int64(burst)
        return arrival > usedUp + mostOwed ? usedUp : arrival
    }

    /// How far a charge can put the arrival time beyond a burst that is used up. [ours]
    @usableFromInline var mostOwed: Int64 { max(interval * Int64(burst), 1_000_000_000) }

    /// - Returns: The state after that many more, and the arrival time from then on.
    func charge(_ count: Int, _ arrival: Int64, at now: Int64) -> (RateLimitState, next: Int64) {
        let tolerance = interval * Int64(burst)
        let next = min(
            max(arrival, now) + interval * Int64(count), max(arrival, now + tolerance + mostOwed))
        let remaining = max(0, Int((tolerance - (next - now)) / interval))
        return (RateLimitState(limit: self, remaining: remaining, untilFull: next - now, untilNext: 0), next)
    }

    /// - Returns: What is said at a time, and the arrival time from then on; nil when it stays as it was.
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
    /// A mutex that an array can hold.
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
