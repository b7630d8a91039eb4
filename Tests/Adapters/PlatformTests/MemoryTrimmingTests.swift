import Platform
import Testing

@Suite struct MemoryTrimmingTests {
    private static let large = MemoryTrimming.threshold

    @Test func changeIsTrimmedAndFollowedUpOnce() {
        var trimming = MemoryTrimming()
        func look(resident: Int, index: Int) -> Bool { trimming.isDue(resident: resident, index: index) }
        #expect(look(resident: large, index: 0) == true)
        trimming.trimmed(before: large, after: large, index: 0)
        // This memory was freed only after the trim.
        #expect(look(resident: large, index: 0) == true)
        trimming.trimmed(before: large, after: large, index: 0)
        #expect(look(resident: large, index: 0) == false)

        #expect(look(resident: 2 * large - 1, index: large) == false)
        #expect(look(resident: 2 * large, index: large) == true)
        trimming.trimmed(before: 2 * large, after: 2 * large, index: large)
        trimming.trimmed(before: 2 * large, after: 2 * large, index: large)
        // The index shrinks in two steps. Each is too small, and the memory is freed late.
        #expect(look(resident: 2 * large, index: large / 2) == false)
        #expect(look(resident: 2 * large, index: 0) == true)
        trimming.trimmed(before: 2 * large, after: 2 * large, index: 0)
        #expect(look(resident: 2 * large, index: 0) == true)
        trimming.trimmed(before: 2 * large, after: large, index: 0)
        #expect(look(resident: large, index: 0) == true)
        trimming.trimmed(before: large, after: large, index: 0)
        #expect(look(resident: large, index: 0) == false)
    }

    /// The C library does not return memory between remaining blocks by itself.
    @Test func trimReturnsFreedBlocksBetweenLiveOnes() throws {
        let size = 256 << 20
        var blocks: [[UInt8]?] = (0..<(size / 8_192)).map { _ in [UInt8](repeating: 1, count: 8_000) }
        for index in blocks.indices where index % 8 != 0 { blocks[index] = nil }
        let freed = try ResidentMemory.now()
        ResidentMemory.trim()
        let trimmed = try ResidentMemory.now()
        #expect(freed - trimmed > size / 4)
        #expect(blocks.count { $0 != nil } == blocks.count / 8)
    }

    private var large: Int { Self.large }
}
