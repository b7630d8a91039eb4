/// A clock whose short sleeps end at once, and whose polls never end.
struct StandingClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        guard deadline - .now > .milliseconds(100) else { return await Task.yield() }
        try await Task.sleep(for: .seconds(86_400))
    }
}
