import Foundation
import Platform
import Testing

@Suite(.timeLimit(.minutes(10))) struct BlockingCallTests {
    private struct Refusal: Error, Equatable {}

    @Test func callResultOrErrorIsReturned() async throws {
        let value = await Thread.result { () throws(Refusal) in 7 }
        try #expect(value?.get() == 7)
        let error = await Thread.result { () throws(Refusal) -> Int in throw Refusal() }
        #expect(throws: Refusal()) { try error?.get() }
    }

    /// Waiting for its thread would block for ever.
    @Test func callerStopsWaitingAtTimeout() async {
        let end = DispatchSemaphore(value: 0)
        #expect(await Thread.result(upTo: .milliseconds(10), of: { end.wait() }) == nil)
        end.signal()
    }

    @Test func cancelledCallerStopsWaiting() async {
        let (begin, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let task = Task {
            await Thread.result {
                begin.signal()
                end.wait()
            }
        }
        _ = await Thread.result { begin.wait() }
        task.cancel()
        #expect(await task.value == nil)
        end.signal()
    }
}
