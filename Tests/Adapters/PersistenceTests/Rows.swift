import Administration

/// Rows of an imaginary file. Each row is made when it is requested.
struct Rows<Row: Sendable>: AsyncSequence {
    typealias Step = @Sendable () async throws -> ImportedRow<Row>

    let steps: [Step]

    init(_ steps: [Step]) {
        self.steps = steps
    }

    /// The first row is on line 2.
    init(_ rows: [Row]) {
        steps = rows.enumerated().map { index, row in { .row(row, line: index + 2) } }
    }

    func makeAsyncIterator() -> Iterator { Iterator(steps: steps[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var steps: ArraySlice<Step>

        mutating func next() async throws -> ImportedRow<Row>? { try await steps.popFirst()?() }
    }
}
