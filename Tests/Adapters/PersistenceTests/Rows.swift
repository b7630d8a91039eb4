import Administration

/// Rows of a file that is none, each made when it is asked for.
struct Rows<Row: Sendable>: AsyncSequence {
    typealias Step = @Sendable () async throws -> ImportedRow<Row>

    let steps: [Step]

    init(_ steps: [Step]) {
        self.steps = steps
    }

    /// From line 2 on.
    init(_ rows: [Row]) {
        steps = rows.enumerated().map { index, row in { .row(row, line: index + 2) } }
    }

    func makeAsyncIterator() -> Iterator { Iterator(steps: steps[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var steps: ArraySlice<Step>

        mutating func next() async throws -> ImportedRow<Row>? { try await steps.popFirst()?() }
    }
}
