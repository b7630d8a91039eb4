import HTTPTypes
import Testing

@testable import Console

@Suite struct WorkUnderWayTests {
    private struct Failure: Error {}

    @Test func concurrentWorkIsLimitedPerOwner() async throws {
        let work = WorkInProgress<String>(maximum: 2, otherwise: .tooManyChecks)
        try await work.with("a") {
            try await work.with("a") {
                let refusal = await #expect(throws: ConsoleRefusal.self) { try await work.with("a") {} }
                #expect(refusal?.status == .tooManyRequests)
                // Work of another person does not count.
                try await work.with("b") {}
            }
            try await work.with("a") {}
            await #expect(throws: Failure.self) { try await work.with("a") { throw Failure() } }
            // Failed work is no longer in progress.
            try await work.with("a") {}
        }
    }
}
