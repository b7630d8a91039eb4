import Synchronization
import Testing

@testable import Administration

@Suite struct TableImportTests {
    private struct Failure: Error {}

    /// A row whose `value` is refused when it is `bad`.
    private struct Word: ImportableRow {
        let text: String

        static let requiredColumns = ["value"]

        static func read(_ fields: CSVFields) throws(RowRefusal) -> Word {
            guard fields["value"] != "bad" else { throw RowRefusal("value", "bad") }
            return Word(text: fields["value"])
        }
    }

    private actor Sink: RowSink {
        private(set) var rows: [String] = []
        private let failing: String?

        init(failingAt text: String? = nil) {
            failing = text
        }

        func append(_ row: Word, line: Int) throws {
            if row.text == failing { throw Failure() }
            rows.append("\(line): \(row.text)")
        }
    }

    /// Hands out chunks one by one, and throws after the last if it is told to.
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

    private func feed(
        _ chunks: Chunks, into sink: Sink, progress: @Sendable (Int) -> Void = { _ in }
    ) async throws -> ImportProblems {
        try await TableImport<Word> { try chunks.next() }.feed(sink, progress: progress)
    }

    @Test func `Good rows are handed over in order, and what is wrong with the others collected`()
        async throws
    {
        let sink = Sink()
        let problems = try await feed(
            Chunks(["val", "ue\r\none\r", "\nbad\r\n", "", "\"t\nwo\"\r\nx\"\r\n1,2\r\nbad\r\nthree"]),
            into: sink)
        #expect(await sink.rows == ["2: one", "4: t\nwo", "9: three"])
        #expect(
            problems.first.map { "\($0.line): \($0.reason)" } == [
                "3: value: bad", "6: a quote stands inside a field that is not quoted",
                "7: the row has 2 fields, the header 1", "8: value: bad",
            ])
        #expect(problems.count == 4)
        #expect(!problems.isEmpty)
    }

    @Test func `A bad last row without a line break is one too`() async throws {
        let sink = Sink()
        let problems = try await feed(Chunks(["value\nbad"]), into: sink)
        #expect(problems.first == [ImportProblem(line: 2, reason: "value: bad")])
        #expect(await sink.rows.isEmpty)
    }

    @Test func `A file without rows has no problems`() async throws {
        #expect(try await feed(Chunks(["value\n"]), into: Sink()).isEmpty)
    }

    @Test func `Progress tells the bytes read after each chunk`() async throws {
        let steps = Mutex<[Int]>([])
        _ = try await feed(Chunks(["value\n", "é\n", "", "bad"]), into: Sink()) { length in
            steps.withLock { $0.append(length) }
        }
        #expect(steps.withLock { $0 } == [6, 9, 9, 12])
    }

    @Test(arguments: [[], [""], ["name\none\n"]])
    func `A file without its header is refused`(chunks: [String]) async {
        let error = await #expect(throws: AdministrationError.self) {
            try await feed(Chunks(chunks), into: Sink())
        }
        #expect(error?.code == "invalid_header")
    }

    @Test func `What the source throws is thrown`() async {
        let sink = Sink()
        await #expect(throws: Failure.self) {
            try await feed(Chunks(["value\none\n"], isFailing: true), into: sink)
        }
        #expect(await sink.rows == ["2: one"])
    }

    @Test func `What the sink throws is thrown, and no further row handed over`() async {
        let sink = Sink(failingAt: "two")
        await #expect(throws: Failure.self) {
            try await feed(Chunks(["value\none\ntwo\nthree\n"]), into: sink)
        }
        #expect(await sink.rows == ["2: one"])
    }
}
