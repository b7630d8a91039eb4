import ArgumentParser
import Formats
import Foundation
import Lookups
import Persistence
import Platform
import PostgreSQL

/// Times what depends on how much is registered: loading it, finding something in it, following a change.
struct ScaleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Time loading, searching and changing the catalogue of a database.",
        discussion: """
            DATABASE_URL names a migrated database with experiences that are bound to locations, and a login that \
            may do everything: locations are changed. Prints JSON. Build with -c release.

            A search's figure is the mean of eight calls one after the other, at places anywhere in the table; p50 \
            and p99 are taken over all these. Reading the clock twice, some 50 ns, is part of each eight. The URLs are \
            in the processor's caches, as those of requests that have just been read; the table is so by chance alone.
            """)

    @Option(help: "How many random hits to time.")
    var hits = 200_000

    @Option(help: "How many changes of each size to time.")
    var changes = 20

    func validate() throws {
        guard hits > 0, changes > 0 else { throw ValidationError("--hits and --changes must be positive") }
    }

    func run() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            throw ValidationError("DATABASE_URL is not set")
        }
        let configuration = PoolConfiguration(
            conninfo: url, maximumConnections: 1, statementTimeout: .seconds(600))
        let report = try await ConnectionPool.withPool(configuration) { pool in
            try await measure(pool)
        }
        print(report.json.prettyPrinted())
    }

    private func measure(_ pool: ConnectionPool) async throws -> ScaleReport {
        let live = LiveLookupIndex()
        let feed = IndexFeed(pool, live: live)
        // Connecting must not count as loading.
        try await pool.withTransaction(.readOnly) { _ = try await $0.execute("SELECT 1") }
        let clock = ContinuousClock()

        let before = try ResidentMemory.now()
        let load = try await clock.measure { try await feed.refresh() }
        let loaded = try ResidentMemory.now()
        ResidentMemory.trim()
        let trimmed = try ResidentMemory.now()
        guard let state = live.current else { throw ScaleError.nothingLoaded }
        let table = state.table

        let places = try await RegisteredLocation.sample(hits, from: pool)
        guard !places.isEmpty else { throw ScaleError.nothingLoaded }
        let searches = try time(places, in: state)
        var deltas: [ScaleReport.Delta] = []
        for rows in [1, 100] {
            var locations = ChangingLocations(places, at: rows)
            var times: [Duration] = []
            for _ in 0..<changes {
                let change = locations.next()
                try await change.commit(to: pool)
                times.append(try await clock.measure { try await feed.refresh() })
                guard let state = live.current, change.isVisible(in: state) else {
                    throw ScaleError.changeIsMissing
                }
            }
            deltas.append(ScaleReport.Delta(rows: rows, times: times))
        }
        return ScaleReport(
            experiences: table.experienceCount, locations: table.locationCount, load: load,
            tableBytes: table.memory, residentBytes: (before, loaded, trimmed), searches: searches,
            deltas: deltas)
    }

    private func time(_ places: [RegisteredLocation], in table: LiveLookupIndex.State) throws -> [Measurement]
    {
        for place in places {
            let found = table.table(of: place.tenant).lookUp(place.invocation).location
            guard found?.identifier == place.location else { throw ScaleError.wrongResponse }
        }
        return [
            Measurement("match", callsPerBatch: 8, over: places, preparing: { $0.touch() }) {
                table.table(of: $0.tenant).match($0.invocation)
            },
            Measurement("look up", callsPerBatch: 8, over: places, preparing: { $0.touch() }) {
                table.table(of: $0.tenant).lookUp($0.invocation)
            },
        ]
    }
}

/// The reason why the figures would mean nothing.
private enum ScaleError: String, Error, CustomStringConvertible {
    case nothingLoaded = "the database has no experiences that are bound to locations"
    case wrongResponse = "a lookup found another location than the one its experience is bound to"
    case changeIsMissing = "a change that was committed is not in the table that was refreshed after it"

    var description: String { rawValue }
}
