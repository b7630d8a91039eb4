import Foundation

/// The remaining requests of a key in a rolling window.
struct RollingBudget: Sendable {
    /// The length of the window in seconds.
    let window: Double
    /// The times of the requests. Those before `start` have left the window.
    private var times: [Date] = []
    private var start = 0

    init(window: Double) {
        self.window = window
    }

    /// The number of requests in the window that ends now.
    mutating func spent(at now: Date) -> Int {
        while start < times.count, now.timeIntervalSince(times[start]) >= window { start += 1 }
        if start > 1_000, start > times.count / 2 {
            times.removeFirst(start)
            start = 0
        }
        return times.count - start
    }

    mutating func spend(at now: Date) {
        times.append(now)
    }

    /// The seconds until a request leaves the window.
    mutating func relief(at now: Date) -> Double {
        guard spent(at: now) > 0 else { return 0 }
        return window - now.timeIntervalSince(times[start])
    }
}
