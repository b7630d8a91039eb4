import Foundation
import Lookups
import Persistence
import PostgreSQL
import Synchronization
import Testing

/// A lookup index that follows a database, and the events of its feed.
struct FollowedTable: Sendable {
    let live = LiveLookupIndex()
    let feed: IndexFeed
    private let told: Told

    /// - Parameter pollInterval: An hour, so that a test does not pass by waiting.
    /// - Parameter readingTime: An hour, so that what is read at once does not depend on the machine.
    init(
        _ pool: ConnectionPool, pollInterval: Duration = .seconds(3_600), pageLength: Int = 2_000,
        readingTime: Duration = .seconds(3_600)
    ) {
        let told = Told()
        self.told = told
        feed = IndexFeed(
            pool, live: live, pollInterval: pollInterval, pageLength: pageLength, readingTime: readingTime
        ) {
            told.add($0)
        }
    }

    /// The index after it has read all changes.
    func refreshed() async throws -> LookupIndex {
        try await feed.refresh()
        return try #require(live.current).table
    }

    /// The events since the last call.
    func events() -> [String] { told.take() }

    /// Runs the feed until the closure has ended.
    func running<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        let task = Task { await feed.run() }
        defer { task.cancel() }
        return try await body()
    }

    /// Waits for an event that begins with this text. Removes it and all earlier events.
    func wait(for beginning: String) async -> String? {
        for await event in told.arrivals where event.hasPrefix(beginning) { return event }
        return nil
    }

    private final class Told: Sendable {
        private let events = Mutex<[String]>([])
        let arrivals: AsyncStream<String>
        private let arrival: AsyncStream<String>.Continuation

        init() {
            (arrivals, arrival) = AsyncStream.makeStream()
        }

        func add(_ event: IndexFeed.Event) {
            let text = event.text
            events.withLock { $0.append(text) }
            arrival.yield(text)
        }

        func take() -> [String] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }
}

extension IndexFeed.Event {
    fileprivate var text: String {
        switch self {
        case .loaded(let experiences, let locations, let unreadable, _):
            "loaded \(experiences) experiences, \(locations) locations, \(unreadable) unreadable"
        case .changed(let rows, let relations, let unreadable):
            "changed \(rows) rows, \(relations) relations, \(unreadable) unreadable"
        case .quarantined(let tenant, _): "quarantined \(tenant)"
        case .released(let tenant): "released \(tenant)"
        case .interrupted: "interrupted"
        case .resumed: "resumed"
        case .standby(let isStandby): "standby \(isStandby)"
        case .notListening: "not listening"
        }
    }
}
