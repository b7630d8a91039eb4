/// When freed memory is worth a trim, which briefly blocks allocations: not while little has changed.
public struct MemoryTrimming: Sendable {
    private var resident = 0
    private var largestIndex = 0
    /// Whether another trim follows, because the last one was due or returned much.
    private var isFollowedUp = false

    /// Growth of the resident memory, or shrinkage of it or of the lookup index, in bytes. [ours]
    public static let threshold = 16 << 20

    public init() {}

    /// The resident memory has grown, part of which may be freed buffers, or the lookup index has shrunk.
    /// - Parameters:
    ///   - resident: of the process, in bytes.
    ///   - index: the size of the lookup index, in bytes.
    public mutating func isDue(resident: Int, index: Int) -> Bool {
        largestIndex = max(largestIndex, index)
        return isFollowedUp || hasChanged(resident, index)
    }

    /// Records a trim.
    /// - Parameters:
    ///   - before: The resident memory before the trim, in bytes.
    ///   - after: The resident memory after it, in bytes.
    public mutating func trimmed(before: Int, after: Int, index: Int) {
        isFollowedUp = hasChanged(before, index) || before - after >= Self.threshold
        resident = after
        largestIndex = index
    }

    private func hasChanged(_ resident: Int, _ index: Int) -> Bool {
        resident - self.resident >= Self.threshold || largestIndex - index >= Self.threshold
    }
}
