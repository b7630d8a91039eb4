import Formats
import Synchronization
import Testing

@testable import Administration

@Suite struct TableRowsTests {
    private struct Failure: Error {}

    /// A row that is refused if its `value` is `bad`.
    private struct Word: WritableResource {
        let key: String
        var text: String { key }

        static let fields: [Field<Word>] = [
            Field("value", .identifier(1...8), .key, "A word.") { .text($0.key) }
        ]
        static let collection = "words"

        init(_ values: inout some FieldValues) throws {
            key = try values.text("value")
            guard key != "bad" else { throw RowRefusal("value", "bad") }
        }

        static func key(named text: String) -> String? { text }
        static func name(of key: String) -> String { key }
        static func members(of key: String) -> JSONObject { ["value": .string(key)] }
        static func unknown(_ key: String) -> AdministrationError { .unknownItem(of: "word", named: key) }
        static func existing(_ key: String) -> AdministrationError { .itemExists(of: "word", named: key) }
    }

    /// Returns chunks one by one. If requested, throws after the last one.
    private final class Chunks: Sendable {
        private let rest: Mutex<[String]>
        private let isFailing: Bool

        init(_ chunks: [String], isFailing: Bool = false) {
            rest = Mutex(chunks)
            self.isFailing = isFailing
        }

        func next() throws -> [UInt8]? {
            try rest.withLock { rest in
                if rest.isEmpty, isFailing { throw Failure() }
                return rest.isEmpty ? nil : Array(rest.removeFirst().utf8)
            }
        }
    }

    /// Reads the rows and the problems in their order.
    private func read(_ chunks: Chunks, rows: inout [String], problems: inout [ImportProblem]) async throws {
        for try await row in TableRows<Word>({ try chunks.next() }) {
            switch row {
            case .row(let row, let line, _): rows.append("\(line): \(row.text)")
            case .refused(let problem): problems.append(problem)
            }
        }
    }

    private func read(_ chunks: Chunks) async throws -> (rows: [String], problems: [ImportProblem]) {
        var (rows, problems): ([String], [ImportProblem]) = ([], [])
        try await read(chunks, rows: &rows, problems: &problems)
        return (rows, problems)
    }

    @Test func rowsAndProblemsArriveInOrder()
        async throws
    {
        let (rows, problems) = try await read(
            Chunks(["val", "ue\r\none\r", "\nbad\r\n", "", "\"t\nwo\"\r\nx\"\r\n1,2\r\nbad\r\nthree"]))
        #expect(rows == ["2: one", "4: t\nwo", "9: three"])
        #expect(
            problems.map { "\($0.line): \($0.reason)" } == [
                "3: value: bad", "6: an unquoted field contains a quote",
                "7: the row has 2 fields, the header 1", "8: value: bad",
            ])
    }

    @Test func invalidLastRowWithoutLineBreakIsReported() async throws {
        let (rows, problems) = try await read(Chunks(["value\nbad"]))
        #expect(
            problems == [ImportProblem(line: 2, reason: "value: bad", item: "bad", value: "bad")])
        #expect(problems.first?.text == "bad: value: bad; got 'bad'")
        #expect(rows.isEmpty)
    }

    @Test func fileWithoutRowsHasNoProblems() async throws {
        let (rows, problems) = try await read(Chunks(["value\n"]))
        #expect(rows.isEmpty && problems.isEmpty)
    }

    @Test(arguments: [[], [""], ["name\none\n"]])
    func fileWithoutHeaderIsRejected(chunks: [String]) async {
        let error = await #expect(throws: AdministrationError.self) {
            try await read(Chunks(chunks))
        }
        #expect(error?.code == "invalid_header")
    }

    @Test func sourceErrorIsRethrown() async {
        var (rows, problems): ([String], [ImportProblem]) = ([], [])
        await #expect(throws: Failure.self) {
            try await read(Chunks(["value\none\n"], isFailing: true), rows: &rows, problems: &problems)
        }
        #expect(rows == ["2: one"])
    }

    @Test func unstorableClearedNameIsOmitted() {
        #expect(
            ClearedFields(metadata: ["a\u{0}", "b"], card: ["\u{0}"]).storable
                == ClearedFields(metadata: ["b"]))
    }
}
