import Foundation
import PostgreSQL
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct CopyTests {
    private func withTable(_ body: (ConnectionPool) async throws -> Void) async throws {
        try await withPool { pool in
            try await pool.withConnection {
                try await $0.execute("CREATE TABLE t (id int8 PRIMARY KEY, name text, score float8)")
            }
            try await body(pool)
        }
    }

    @Test func copyInWritesAHundredThousandRows() async throws {
        try await withTable { pool in
            let copied = try await pool.withTransaction { transaction in
                try await transaction.copyIn("COPY t (id, name, score) FROM STDIN") { writer in
                    for number in 0..<100_000 {
                        try await writer.writeRow([String(number), "row", nil])
                    }
                }
            }
            #expect(copied == 100_000)
            let (count, sum) = try await pool.withConnection {
                try await $0.execute("SELECT count(*), sum(id)::int8 FROM t").one().decode(Int.self, Int.self)
            }
            #expect(count == 100_000 && sum == 4_999_950_000)
        }
    }

    @Test func copiedFieldsRoundTrip() async throws {
        let names: [String?] = [nil, "", "\\N", "\\.", "a\tb\nc\rd\\e", "日本", "\u{8}\u{c}\u{b}", #"""#]
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                try await transaction.copyIn("COPY t FROM STDIN") { writer in
                    for (number, name) in names.enumerated() {
                        try await writer.writeRow([String(number), name, String(Double(number) / 3)])
                    }
                }
                let rows = try await transaction.execute("SELECT name, score FROM t ORDER BY id")
                for (number, row) in rows.enumerated() {
                    let (name, score) = try row.decode(String?.self, Double.self)
                    #expect(name == names[number] && score == Double(number) / 3)
                }
                #expect(rows.count == names.count)
            }
        }
    }

    @Test func invalidRowFailsTheWholeCopy() async throws {
        try await withTable { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.copyIn("COPY t (id) FROM STDIN") { writer in
                        try await writer.writeRow(["1"])
                        try await writer.writeRow(["one"])
                        // Enough rows that the server reports the error before the end.
                        for number in 2..<50_000 { try await writer.writeRow([String(number)]) }
                    }
                }
            }
            #expect(error?.sqlState == "22P02")
            let result = try await pool.withConnection { try await $0.execute("TABLE t") }
            #expect(result.isEmpty)
        }
    }

    @Test func throwingClosureCopiesNothing() async throws {
        try await withTable { pool in
            let first = try await pool.withConnection { try await $0.process() }
            await #expect(throws: Refusal()) {
                try await pool.withTransaction { transaction in
                    try await transaction.copyIn("COPY t (id) FROM STDIN") { writer in
                        for number in 0..<20_000 { try await writer.writeRow([String(number)]) }
                        throw Refusal()
                    }
                }
            }
            let (second, count) = try await pool.withConnection { connection in
                (try await connection.process(), try await connection.execute("TABLE t").count)
            }
            #expect(count == 0 && first == second)
        }
    }

    @Test func transactionContinuesAfterFailedCopyInSavepoint() async throws {
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                await #expect(throws: PostgreSQLError.self) {
                    try await transaction.withSavepoint {
                        try await transaction.copyIn("COPY t (id) FROM STDIN") {
                            try await $0.writeRow(["x"])
                        }
                    }
                }
                try await transaction.execute("INSERT INTO t VALUES (1)")
            }
            #expect(try await pool.withConnection { try await $0.execute("TABLE t") }.count == 1)
        }
    }

    @Test func copyAndStatementAreNotInterchangeable() async throws {
        try await withTable { pool in
            await #expect(throws: PostgreSQLError.unexpectedCopy) {
                try await pool.withTransaction { try await $0.execute("COPY t FROM STDIN") }
            }
            await #expect(throws: PostgreSQLError.unexpectedCopy) {
                try await pool.withTransaction { try await $0.copyIn("SELECT 1") { _ in } }
            }
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { try await $0.copyIn("COPY nowhere FROM STDIN") { _ in } }
            }
            #expect(error?.sqlState == "42P01")
            let result = try await pool.withConnection { try await $0.execute("TABLE t") }
            #expect(result.isEmpty)
        }
    }

    @Test func statementInsideCopyIsRejectedAndCopyContinues() async throws {
        try await withTable { pool in
            let copied = try await pool.withTransaction { transaction in
                try await transaction.copyIn("COPY t (id) FROM STDIN") { writer in
                    try await writer.writeRow(["1"])
                    let error = await #expect(throws: PostgreSQLError.notSent) {
                        try await transaction.execute("SELECT 1")
                    }
                    #expect(error?.isRetryable == false)
                    await #expect(throws: PostgreSQLError.notSent) {
                        try await transaction.execute(script: "SELECT 1")
                    }
                    try await writer.writeRow(["2"])
                }
            }
            #expect(copied == 2)
        }
    }

    @Test func writerIsInvalidAfterItsCopy() async throws {
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                let kept = Shared<CopyWriter?>(nil)
                try await transaction.copyIn("COPY t (id) FROM STDIN") { writer in kept.change { $0 = writer }
                }
                let writer = try #require(kept.value)
                await #expect(throws: PostgreSQLError.unexpectedCopy) {
                    try await writer.write([UInt8](repeating: 0, count: 100_000))
                }
                try await transaction.execute("INSERT INTO t VALUES (1)")
            }
        }
    }

    @Test func copyStatementWithZeroByteIsRejected() async throws {
        try await withTable { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction {
                    try await $0.copyIn("COPY t FROM STDIN\0 WITH CSV") { _ in }
                }
            }
            #expect(error?.code == "encoding")
        }
    }

    @Test func copyOutDeliversWholeRows() async throws {
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute(
                    "INSERT INTO t SELECT n, repeat('x', 20), n / 2.0 FROM generate_series(1, 20000) n")
                var (text, parts) = ("", 0)
                try await transaction.copyOut("COPY (SELECT id, name FROM t ORDER BY id) TO STDOUT") {
                    bytes in
                    text += String(decoding: bytes, as: UTF8.self)
                    parts += 1
                    #expect(bytes.last == UInt8(ascii: "\n"))
                }
                let lines = text.split(separator: "\n")
                #expect(lines.count == 20_000 && parts > 1)
                #expect(lines.first == "1\txxxxxxxxxxxxxxxxxxxx")
                #expect(try await transaction.execute("SELECT 1").count == 1)
            }
        }
    }

    @Test func throwingReaderDropsTheConnection() async throws {
        try await withTable { pool in
            await #expect(throws: Refusal()) {
                try await pool.withTransaction { transaction in
                    try await transaction.copyOut("COPY (SELECT generate_series(1, 1000000)) TO STDOUT") {
                        _ in
                        throw Refusal()
                    }
                }
            }
            let result = try await pool.withConnection { try await $0.execute("SELECT 1") }
            #expect(result.count == 1)
        }
    }
}
