import Testing

@testable import PostgreSQL

@Suite(.timeLimit(.minutes(30))) struct QueryTests {
    @Test func valuesAreBoundInOrder() {
        let query: Query = "SELECT a FROM t WHERE b = \(1) AND c = \("x' OR 1=1 --")"
        #expect(query.sql == "SELECT a FROM t WHERE b = $1 AND c = $2")
        #expect(query.parameters.map(\.type) == [.int8, .inferred])
        #expect(query.parameters[1].bytes == .success(Array("x' OR 1=1 --".utf8) + [0]))
    }

    @Test func nilIsNullOfItsType() {
        let query: Query = "SELECT \(Int32?.none)"
        #expect(query.parameters[0].type == .int4)
        #expect(query.parameters[0].bytes == .success(nil))
    }

    @Test func identifiersAreQuoted() {
        let query: Query = "TABLE \(identifier: #"a"b"#)"
        #expect(query.sql == #"TABLE "a""b""#)
        #expect(query.isPreparable)
    }

    @Test func queryIsPartOfAnotherWithItsValues() {
        let part: Query =
            "SELECT '$1 é', \(1), \(2), \(3), \(4), \(5), \(6), \(7), \(8), \("nine"), \(Int?.none) FROM \(identifier: "ü")"
        let query: Query = "WITH a AS (\(part)), b AS (\(part)) SELECT \(true)"
        let first = (1...10).map { "$\($0)" }.joined(separator: ", ")
        let second = (11...20).map { "$\($0)" }.joined(separator: ", ")
        #expect(
            query.sql
                == #"WITH a AS (SELECT '$1 é', \#(first) FROM "ü"), b AS (SELECT '$1 é', \#(second) FROM "ü") SELECT $21"#
        )
        #expect(
            query.parameters.map(\.bytes) == part.parameters.map(\.bytes) + part.parameters.map(\.bytes) + [
                .success([1])
            ])
        #expect(query.isPreparable)
        #expect(!Query("SELECT \(Query("\(unsafeSQL: "1")"))").isPreparable)
    }

    @Test(arguments: [
        ("SELECT name FROM doorstep.locations WHERE id = $1", "SELECT doorstep.locations"),
        ("insert into doorstep.confirmations(id)\nSELECT 1", "INSERT doorstep.confirmations"),
        ("UPDATE doorstep.tenants SET name = $1", "UPDATE doorstep.tenants"),
        ("WITH due AS (SELECT FROM doorstep.deliveries d) SELECT * FROM due", "WITH doorstep.deliveries"),
        ("SELECT extract(epoch FROM d.due_at ) FROM doorstep.deliveries d", "SELECT doorstep.deliveries"),
        ("SELECT id FROM unnest($1) AS r (id)", "SELECT"), ("DELETE FROM t", "DELETE"), ("", ""),
        (
            "COPY \(String(repeating: "a", count: 99)).b FROM STDIN",
            "COPY \(String(repeating: "a", count: 75))"
        ),
    ])
    func summaryNamesOperationAndTable(sql: String, summary: String) {
        let query: Query = "\(unsafeSQL: sql)"
        #expect(query.summary == summary)
    }

    @Test func summaryHasNoValues() {
        let query: Query = "SELECT \("secret") FROM doorstep.keys WHERE id = \("other.secret")"
        #expect(query.summary == "SELECT doorstep.keys")
    }

    @Test func unsafeTextIsNotPrepared() {
        let query: Query = "SELECT 1 ORDER BY \(unsafeSQL: "1 DESC")"
        #expect(query.sql == "SELECT 1 ORDER BY 1 DESC")
        #expect(!query.isPreparable)
    }
}

@Suite(.timeLimit(.minutes(30))) struct StatementCacheTests {
    private func key(_ sql: String) -> StatementCache.Key {
        StatementCache.Key(sql: sql, types: [])
    }

    @Test func leastRecentlyUsedStatementIsEvicted() {
        var cache = StatementCache(capacity: 2, prefix: "s")
        for sql in ["a", "b"] {
            guard case .prepare(let name, nil) = cache.step(for: key(sql)) else {
                Issue.record("\(sql) was not to be prepared")
                continue
            }
            cache.prepared(key(sql), name: name)
        }
        #expect(cache.step(for: key("a")) == .execute(name: "s1"))
        #expect(cache.step(for: key("c")) == .prepare(name: "s4", evict: "s2"))
    }

    @Test func failedPrepareIsNotCached() {
        var cache = StatementCache(capacity: 2, prefix: "s")
        #expect(cache.step(for: key("a")) == .prepare(name: "s1", evict: nil))
        #expect(cache.step(for: key("a")) == .prepare(name: "s2", evict: nil))
    }

    @Test func cacheKeyIncludesParameterTypes() {
        var cache = StatementCache(capacity: 2, prefix: "s")
        _ = cache.step(for: key("a"))
        cache.prepared(key("a"), name: "s1")
        #expect(
            cache.step(for: StatementCache.Key(sql: "a", types: [20])) == .prepare(name: "s2", evict: nil))
    }

    @Test func cacheWithoutCapacityPreparesNothing() {
        var cache = StatementCache(capacity: 0, prefix: "s")
        #expect(cache.step(for: key("a")) == .runUnprepared)
    }
}

@Suite(.timeLimit(.minutes(30))) struct ConnectionStringTests {
    private func attempts(_ text: String) throws -> [[String: String]] {
        try ConnectionString(text).attempts(applicationName: "test")
    }

    @Test func eachHostIsOneAttempt() throws {
        let hosts = try attempts(
            "postgresql://u@a:1,b:2/db?sslmode=verify-full&target_session_attrs=read-write")
        #expect(hosts.map { $0["host"] } == ["a", "b"])
        #expect(hosts.map { $0["port"] } == ["1", "2"])
        #expect(
            hosts.allSatisfy { $0["sslmode"] == "verify-full" && $0["target_session_attrs"] == "read-write" })
        #expect(hosts.allSatisfy { $0["fallback_application_name"] == "test" })
    }

    @Test func singlePortAppliesToAllHosts() throws {
        #expect(try attempts("host=a,b port=7").map { $0["port"] } == ["7", "7"])
    }

    @Test func preferStandbyMakesTwoRounds() throws {
        let rounds = try attempts("host=a,b target_session_attrs=prefer-standby")
        #expect(rounds.map { $0["target_session_attrs"] } == ["standby", "standby", "any", "any"])
        #expect(rounds.map { $0["host"] } == ["a", "b", "a", "b"])
    }

    /// The canary `hunter2` is the password, and contains a character that should have been escaped.
    @Test(arguments: [
        "postgresql://u:hunter@hunter2@host/db", "postgresql://u:hun/hunter2@host/db",
        "postgresql://u:hunter2/x@host/db", "postgresql://u:123/hunter2@host/db",
        "postgresql://u:@/hunter2@host/db", "postgresql://u@hunter2:pw@host/db",
        "postgresql://u:a@b:hunter2@host:5432/db", "postgresql://u:p@a,hunter2@host/db",
        "host=h port=hunter2", "host=h port=0", "host=h port=65536", "host=h port=1,-1",
    ])
    func mistypedPasswordIsNotTakenForAHost(text: String) async {
        #expect(throws: PostgreSQLError.connectionString) { try ConnectionString(text) }
        let pool = ConnectionPool(PoolConfiguration(conninfo: text))
        let error = await #expect(throws: PostgreSQLError.self) { try await pool.withConnection { _ in } }
        #expect(error == .connectionString && error?.description.contains("hunter2") == false)
        await pool.close()
    }

    @Test(arguments: [
        "postgresql://u:hunter%40%2F2@host:5433/db", "host=/tmp/a@b", "host=a,b port=,5433", "host=a",
        "postgresql://u@[::1]:65535/db?sslmode=require", "",
    ])
    func wellFormedConnectionStringIsAccepted(text: String) {
        #expect(throws: Never.self) { try ConnectionString(text) }
    }

    @Test func configurationDoesNotShowItsPassword() {
        let configuration = PoolConfiguration(conninfo: "host=h password=hunter2", applicationName: "name")
        let pool = ConnectionPool(configuration)
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(pool, to: &dumped)
        dump([configuration], to: &dumped)
        let texts = ["\(configuration)", String(reflecting: configuration), "\([configuration])", dumped]
        #expect(texts.allSatisfy { $0.contains("name") && !$0.contains("hunter2") })
    }

    @Test func malformedStringIsRejectedWithoutQuotingIt() {
        let error = #expect(throws: PostgreSQLError.self) { try ConnectionString("hunter2") }
        #expect(error == .connectionString)
        #expect(error?.description.contains("hunter2") == false)
    }
}
