import Confirmations
import Formats
import Foundation
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import Console

@Suite struct FinishedDaysTests {
    /// A history with the numbers of recorded confirmations. It stores the requested selections.
    private final class History: Sendable {
        let recorded = Mutex<[Date: Int]>([:])
        let selections = Mutex<[ConfirmationSelection]>([])

        func counts(_ selection: ConfirmationSelection) -> [ConfirmationCounts] {
            selections.withLock { $0.append(selection) }
            return recorded.withLock { recorded in
                recorded.filter { selection.start <= $0.key && $0.key < selection.end }
                    .map { ConfirmationCounts(day: $0.key, counts: [.inRegion: $0.value]) }
            }
        }
    }

    private func date(_ text: String) throws -> Date { try #require(Date(rfc3339: text)) }

    private func counts(
        _ days: FinishedDays<ConfirmationCounts>, _ history: History, _ tenant: UInt8, at now: Date
    ) async throws -> [Int] {
        try await days.counts(of: TenantID(number: tenant), days: 3, at: now, by: history.counts)
            .sorted { $0.day < $1.day }.map { $0.counts[.inRegion] ?? 0 }
    }

    @Test func finishedDaysAreCountedOnceAnHour() async throws {
        let (days, history) = (FinishedDays<ConfirmationCounts>(), History())
        let (first, second, today) = (
            try date("2026-03-01T00:00:00Z"), try date("2026-03-02T00:00:00Z"),
            try date("2026-03-03T00:00:00Z")
        )
        history.recorded.withLock {
            $0 = [first: 1, second: 2, today: 3, first.addingTimeInterval(-86_400): 9]
        }
        let now = try date("2026-03-03T00:10:00Z")
        #expect(try await counts(days, history, 1, at: now) == [1, 2, 3])
        history.recorded.withLock { $0 = [first: 10, second: 20, today: 30] }
        #expect(try await counts(days, history, 1, at: now.addingTimeInterval(3_599)) == [1, 2, 30])
        // Each tenant has its own counts.
        #expect(try await counts(days, history, 2, at: now) == [10, 20, 30])
        #expect(try await counts(days, history, 1, at: now.addingTimeInterval(3_600)) == [10, 20, 30])
        #expect(history.selections.withLock { $0.filter { $0.start == first }.count } == 3)
    }

    /// Servers may still write the last confirmations of yesterday.
    @Test func dayThatHasJustEndedIsCountedAgain() async throws {
        let (days, history) = (FinishedDays<ConfirmationCounts>(), History())
        let yesterday = try date("2026-03-02T00:00:00Z")
        history.recorded.withLock { $0 = [yesterday: 1] }
        let now = try date("2026-03-03T00:09:59Z")
        #expect(try await counts(days, history, 1, at: now) == [1])
        history.recorded.withLock { $0 = [yesterday: 2] }
        #expect(try await counts(days, history, 1, at: now) == [2])
        // The counts of another day concern other days.
        let later = try date("2026-03-04T12:00:00Z")
        #expect(try await counts(days, history, 1, at: later) == [2])
        #expect(try await counts(days, history, 1, at: later.addingTimeInterval(86_400)) == [])
    }
}
