import Formats
import Testing

@Suite struct RepeatedLinesTests {
    private let lines = RepeatedLines()
    private let start = ContinuousClock.now

    private func admit(_ line: String, after seconds: Double) -> Int? {
        lines.admit(line, at: start + .seconds(seconds))
    }

    @Test func equalLinesOfOneSecondAreWrittenOnce() {
        #expect(admit("a", after: 0) == 0)
        for _ in 0..<10 { #expect(admit("a", after: 0.5) == nil) }
        #expect(admit("b", after: 0.5) == 0)
    }

    @Test func pauseDoublesUpToFiveMinutes() {
        // Twice a second for an hour.
        let written = (0..<7_200).filter { admit("a", after: Double($0) / 2) != nil }.map { Double($0) / 2 }
        #expect(written.prefix(6) == [0, 10, 30, 70, 150, 310])
        #expect(zip(written.dropFirst(6), written.dropFirst(5)).allSatisfy { $0 - $1 == 300 })
    }

    @Test func heldBackLinesAreCounted() {
        #expect(admit("a", after: 0) == 0)
        for second in 1..<10 { #expect(admit("a", after: Double(second)) == nil) }
        #expect(admit("a", after: 10) == 9)
        #expect(admit("a", after: 11) == nil)
        // After a long silence it is the first again.
        #expect(admit("a", after: 1_000) == 1)
        #expect(admit("a", after: 1_009) == nil)
        #expect(admit("a", after: 1_010) == 1)
    }
}
