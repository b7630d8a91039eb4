import NIOCore
import PropertyTesting
import Testing

@testable import APNsClient

@Suite struct PoolStateTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func state(connections: Int = 2, streams: Int = 1_000) -> PoolState {
        PoolState(
            PoolState.Limits(
                connections: connections, streams: streams, firstPause: .milliseconds(100),
                longestPause: .seconds(1)))
    }

    @Test func connectionHasOneStreamUntilTokenIsAccepted() {
        var state = state()
        #expect(state.takeStream() == nil)
        #expect(state.need(at: start) == .connect(1))
        #expect(state.takeStream() == nil)
        state.settingsCame(for: 1, streams: 500)
        #expect(state.takeStream() == 1)
        #expect(state.takeStream() == nil)
        // The new connection may soon have room for all requests.
        #expect(state.need(at: start) == .nothing)
        state.giveBackStream(of: 1)
        #expect(state.takeStream() == 1)
        #expect(state.takeStream() == nil)
        state.giveBackStream(of: 1)
        state.trusted(1)
        for _ in 0..<500 { #expect(state.takeStream() == 1) }
        #expect(state.takeStream() == nil)
        #expect(state.need(at: start) == .connect(2))
        #expect(state.need(at: start) == .nothing)
    }

    @Test func streamLimitDefaultsToAHundredAndMayShrink() {
        var state = state(connections: 1)
        _ = state.need(at: start)
        state.settingsCame(for: 1, streams: nil)
        state.trusted(1)
        for _ in 0..<100 { #expect(state.takeStream() == 1) }
        #expect(state.takeStream() == nil)
        state.settingsCame(for: 1, streams: 1)
        for _ in 0..<99 {
            state.giveBackStream(of: 1)
            #expect(state.takeStream() == nil)
        }
        state.giveBackStream(of: 1)
        #expect(state.takeStream() == 1)
        #expect(state.takeStream() == nil)
        // Settings without a number of streams change nothing.
        state.settingsCame(for: 1, streams: nil)
        #expect(state.takeStream() == nil)
        state.settingsCame(for: 1, streams: 0)
        state.giveBackStream(of: 1)
        #expect(state.takeStream() == nil)
    }

    @Test func reconnectPausesGrowUntilTokenIsAccepted() {
        var state = state(connections: 1)
        var now = start
        for (id, pause) in zip(1..., [100, 200, 400, 800, 1_000, 1_000] as [Int64]) {
            #expect(state.need(at: now) == .connect(id))
            // This includes connections that opened and failed afterwards.
            if id.isMultiple(of: 2) { state.settingsCame(for: id, streams: 10) }
            state.closed(id, at: now, random: 1)
            let until = now + .milliseconds(pause)
            #expect(state.need(at: now) == .pause(until: until))
            now = until
        }
        #expect(state.need(at: now) == .connect(7))
        state.settingsCame(for: 7, streams: 10)
        state.trusted(7)
        state.closed(7, at: now, random: 1)
        #expect(state.need(at: now) == .connect(8))
        state.closed(8, at: now, random: 0)
        #expect(state.need(at: now) == .pause(until: now + .milliseconds(50)))
    }

    @Test func leftConnectionMakesRoomForAnother() {
        var state = state(connections: 1)
        _ = state.need(at: start)
        state.settingsCame(for: 1, streams: 10)
        state.trusted(1)
        #expect(state.takeStream() == 1)
        state.leave(1)
        #expect(state.takeStream() == nil)
        #expect(state.need(at: start) == .connect(2))
    }

    @Test func failedConnectionIsCountedOnceBeforeClosing() {
        var state = state(connections: 1)
        _ = state.need(at: start)
        state.settingsCame(for: 1, streams: 10)
        state.trusted(1)
        #expect(state.takeStream() == 1)
        state.failed(1, at: start, random: 1)
        state.failed(1, at: start, random: 1)
        #expect(state.takeStream() == nil)
        #expect(state.need(at: start) == .pause(until: start + .milliseconds(100)))
        let later = start + .milliseconds(100)
        #expect(state.need(at: later) == .connect(2))
        state.closed(1, at: later, random: 1)
        #expect(state.failures == 1)
        state.closed(2, at: later, random: 1)
        #expect(state.need(at: later) == .pause(until: later + .milliseconds(200)))
    }
}
