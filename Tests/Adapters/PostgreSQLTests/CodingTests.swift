import Foundation
import PostgreSQL
import PropertyTesting
import TestSupport
import Testing

/// Values survive a round trip to the server.
@Suite(.timeLimit(.minutes(30))) struct CodingTests {
    @Test func numbersRoundTrip() async throws {
        try await withPool { pool in
            try await pool.withTransaction { transaction in
                var random = SplitMix64(seed: 1)
                for _ in 0..<200 {
                    let long = Int64(bitPattern: random.next())
                    let (middle, short) = (Int32(truncatingIfNeeded: long), Int16(truncatingIfNeeded: long))
                    let double = Double(bitPattern: random.next())
                    let row = try await transaction.execute(
                        "SELECT \(long), \(middle), \(short), \(double), \(Int(long)), \(long < 0)"
                    ).one()
                    let (a, b, c, d, e, f) = try row.decode(
                        Int64.self, Int32.self, Int16.self, Double.self, Int.self, Bool.self)
                    #expect(a == long && b == middle && c == short && e == Int(long) && f == (long < 0))
                    #expect(d == double || (d.isNaN && double.isNaN))
                }
            }
        }
    }

    @Test(arguments: [
        "", "a", "é", "e\u{301}", "日本語", "👩‍👩‍👧‍👦", "'; DROP TABLE x; --", "\\", "\t\r\n", "\u{1}", "NULL",
        String(repeating: "ü", count: 100_000),
    ]) func textRoundTrips(value: String) async throws {
        try await TestServer.administration().withConnection { connection in
            let row = try await connection.execute("SELECT \(value)::text, \([value, value])").one()
            let (text, array) = try row.decode(String.self, [String].self)
            #expect(text.utf8.elementsEqual(value.utf8))
            #expect(array.count == 2 && array.allSatisfy { $0.utf8.elementsEqual(value.utf8) })
        }
    }

    @Test func bytesAndUUIDsRoundTrip() async throws {
        try await TestServer.administration().withConnection { connection in
            let bytes = (0...255).map(UInt8.init) + [0, 0]
            let id = UUID()
            let row = try await connection.execute(
                "SELECT \(bytes), \(Data(bytes)), \([UInt8]()), \(id), \(id)::text"
            ).one()
            let (a, b, c, d, e) = try row.decode(
                [UInt8].self, Data.self, [UInt8].self, UUID.self, String.self)
            #expect(a == bytes && b == Data(bytes) && c == [] && d == id && e == id.uuidString.lowercased())
        }
    }

    @Test func arraysRoundTrip() async throws {
        try await TestServer.administration().withConnection { connection in
            let ids = (0..<50).map { _ in UUID() }
            let row = try await connection.execute(
                "SELECT \(ids), \([1, -2, Int.max]), \([0.5, -.infinity]), \([String]()), \([true, false])"
            ).one()
            let (a, b, c, d, e) = try row.decode(
                [UUID].self, [Int].self, [Double].self, [String].self, [Bool].self)
            #expect(
                a == ids && b == [1, -2, Int.max] && c == [0.5, -.infinity] && d == [] && e == [true, false])
        }
    }

    @Test(arguments: ["ARRAY[1, NULL]", "ARRAY[[1], [2]]", "ARRAY['a']", "1", "NULL::int8[]"])
    func arraysThatAreNotPlainListsAreRejected(expression: String) async throws {
        try await TestServer.administration().withConnection { connection in
            let row = try await connection.execute("SELECT \(unsafeSQL: expression)").one()
            let error = #expect(throws: PostgreSQLError.self) { try row.decode([Int].self) }
            #expect(error?.code == "decoding")
        }
    }

    /// Microseconds stay exact in a `Date`, and the server reads the same instant.
    @Test func timesRoundTripToTheMicrosecond() async throws {
        try await TestServer.administration().withConnection { connection in
            var random = SplitMix64(seed: 2)
            for _ in 0..<200 {
                // 1900 to 2200, in microseconds since 1970.
                let microseconds = Int.random(
                    in: -2_208_988_800_000_000..<7_258_118_400_000_000, using: &random)
                let (date, again) = try await connection.execute(
                    """
                    SELECT t, (extract(epoch FROM t) * 1000000)::int8
                    FROM (SELECT 'epoch'::timestamptz + \(microseconds) * '1 us'::interval) AS x (t)
                    """
                ).one().decode(Date.self, Int.self)
                #expect(again == microseconds)
                let back: Int = try await connection.execute(
                    "SELECT (extract(epoch FROM \(date)) * 1000000)::int8"
                ).one().decode(at: 0)
                #expect(back == microseconds)
            }
            let known = Date(timeIntervalSince1970: 1_700_000_000.25)
            let text: String = try await connection.execute("SELECT (\(known) AT TIME ZONE 'UTC')::text")
                .one().decode(at: 0)
            #expect(text == "2023-11-14 22:13:20.25")
        }
    }

    @Test func infiniteTimesMapToDistantDates() async throws {
        try await TestServer.administration().withConnection { connection in
            let (a, b, c, d) = try await connection.execute(
                """
                SELECT 'infinity'::timestamptz, '-infinity'::timestamptz,
                    \(Date.distantFuture) = 'infinity', \(Date.distantPast) = '-infinity'
                """
            ).one().decode(Date.self, Date.self, Bool.self, Bool.self)
            #expect(a == .distantFuture && b == .distantPast && c && d)
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e13, -1e12, 9.3e12])
    func timesOutsideTheServersRangeAreRejected(seconds: Double) async throws {
        try await TestServer.administration().withConnection { connection in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await connection.execute("SELECT \(Date(timeIntervalSinceReferenceDate: seconds))")
            }
            #expect(error?.code == "encoding")
        }
    }

    @Test func jsonIsReadAsText() async throws {
        try await withPool { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute("CREATE TABLE t (a json, b jsonb)")
                let json = JSONText(#"{"b": 1,  "a": "é\u0041"}"#)
                let (a, b) = try await transaction.execute(
                    "INSERT INTO t VALUES (\(json), \(json)) RETURNING a, b"
                ).one().decode(JSONText.self, JSONText.self)
                #expect(a == json)
                #expect(b.text == #"{"a": "éA", "b": 1}"#)
            }
        }
    }

    @Test func nullDecodesOnlyAsNil() async throws {
        try await TestServer.administration().withConnection { connection in
            let row = try await connection.execute("SELECT \(Int?.none) AS a, \(String?.none)::text, \(5)")
                .one()
            let (a, b, c) = try row.decode(Int?.self, String?.self, Int?.self)
            #expect(a == nil && b == nil && c == 5)
            #expect(throws: PostgreSQLError.decoding(column: "a", expected: "bigint", found: "NULL")) {
                try row.decode("a", as: Int.self)
            }
        }
    }

    @Test func columnOfAnotherTypeIsRejected() async throws {
        try await TestServer.administration().withConnection { connection in
            let row = try await connection.execute("SELECT 1::int8 AS n, 1::int2 AS small").one()
            #expect(throws: PostgreSQLError.decoding(column: "n", expected: "text", found: "type 20")) {
                try row.decode("n", as: String.self)
            }
            #expect(throws: PostgreSQLError.decoding(column: "n", expected: "integer", found: "type 20")) {
                try row.decode("n", as: Int32.self)
            }
            #expect(try row.decode("small", as: Int.self) == 1)
            #expect(throws: PostgreSQLError.columnCount(expected: 1, found: 2)) { try row.decode(Int.self) }
            #expect(throws: PostgreSQLError.noColumn(name: "m")) { try row.decode("m", as: Int.self) }
        }
    }

    @Test func singleRowQueryRejectsOtherRowCounts() async throws {
        try await TestServer.administration().withConnection { connection in
            let none = try await connection.execute("SELECT 1 WHERE false")
            #expect(throws: PostgreSQLError.rowCount(found: 0)) { try none.one() }
            let two = try await connection.execute("VALUES (1), (2)")
            #expect(throws: PostgreSQLError.rowCount(found: 2)) { try two.one() }
            #expect(
                try two.map { row throws(PostgreSQLError) in try row.decode(at: 0, as: Int.self) } == [1, 2])
        }
    }

    @Test func textWithZeroByteIsRejected() async throws {
        try await TestServer.administration().withConnection { connection in
            let zero = "a\0b"
            for query: Query in ["SELECT \(zero)::text", "SELECT \([zero])", "SELECT \(unsafeSQL: zero)"] {
                let error = await #expect(throws: PostgreSQLError.self) {
                    try await connection.execute(query)
                }
                #expect(error?.code == "encoding")
            }
            let process = try await connection.process()
            #expect(process > 0)
        }
    }
}
