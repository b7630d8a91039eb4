/// An array in chunks: a change to a copy copies one chunk, and the others remain shared.
struct ChunkedArray<Element: Sendable>: Sendable {
    private(set) var chunks: [[Element]] = []
    private(set) var count = 0

    /// A change copies one chunk, and the references to all chunks: of half a million elements, about a thousand each. [ours]
    private static var chunkLength: Int { 512 }

    subscript(position: Int) -> Element {
        @inline(__always) get { chunks[position / Self.chunkLength][position % Self.chunkLength] }
        set { chunks[position / Self.chunkLength][position % Self.chunkLength] = newValue }
    }

    mutating func append(_ element: Element) {
        if count % Self.chunkLength == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }
}
