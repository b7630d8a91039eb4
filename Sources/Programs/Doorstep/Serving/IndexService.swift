import Formats
import Foundation
import Logging
import Lookups
import Metrics
import Persistence
import PostgreSQL
import ServiceLifecycle
import Synchronization

/// Keeps the lookup index equal to the database, and writes a copy of the index to a file if one is configured.
struct IndexService: Service {
    let table: LiveLookupIndex
    private let pool: ConnectionPool
    let feed: IndexFeed
    private let file: TableFile?
    private let logger: Logger
    /// Whether the database refuses writes.
    let standby = StandbyState()

    /// The interval after which the file is written if the index has changed or the file is old.
    private static let savingInterval = Duration.seconds(60)

    init(_ pool: ConnectionPool, trusting trust: LocationTrust, file: TableFile?, logger: Logger) {
        table = LiveLookupIndex(trusting: trust)
        self.pool = pool
        self.file = file
        self.logger = logger
        let isReadable = Meter(label: "doorstep_database_up")
        feed = IndexFeed(pool, live: table) { [standby] event in
            event.isReadable.map { isReadable.set($0 ? 1 : 0) }
            if case .standby(let isStandby) = event { standby.set(isStandby) }
            event.log(to: logger)
        }
    }

    /// Loads the first lookup index from the database. If the database does not respond, loads it from the file.
    /// - Throws: If both fail, if the database's schema is older than the program needs, or if it is newer and not compatible.
    func start() async throws {
        do {
            try await checkSchema()
            try await feed.refresh()
        } catch let error as PostgreSQLError where error.isNoResponse {
            guard let file, let saved = try file.read() else { throw error }
            table.replace(by: saved.table, from: .file, asOf: saved.asOf)
            logger.warning(
                "the database does not respond: serving the saved lookup index",
                metadata: ["as_of": "\(saved.asOf.rfc3339)", "error": "\(error)"])
        }
    }

    private func checkSchema() async throws {
        let needed = Schema.migrations.count
        let schema = try await Schema.status(pool)
        guard schema.isCurrent else {
            throw CommandError.schemaIsBehind(database: schema.version, needed: needed)
        }
        let versions: Logger.Metadata = ["needed": "\(needed)", "database": "\(schema.version)"]
        if schema.version > needed {
            logger.warning(
                "the database's schema is newer and compatible with this server",
                metadata: versions)
        } else {
            logger.notice("the database has the schema that this server needs", metadata: versions)
        }
    }

    func run() async throws {
        await withTaskGroup { group in
            group.addTask { await cancelWhenGracefulShutdown { await feed.run() } }
            group.addTask { await saveRepeatedly() }
        }
    }

    private func saveRepeatedly() async {
        guard let file else { return }
        let saved = await cancelWhenGracefulShutdown {
            var saved: LiveLookupIndex.State?
            while !Task.isCancelled {
                saved = save(to: file, after: saved)
                try? await Task.sleep(for: Self.savingInterval)
            }
            return saved
        }
        _ = save(to: file, after: saved)
    }

    /// - Returns: The index that the file contains now.
    private func save(to file: TableFile, after saved: LiveLookupIndex.State?) -> LiveLookupIndex.State? {
        guard let state = table.current, state.source == .database, TableFile.isDue(state, after: saved)
        else { return saved }
        do {
            try file.write(state)
            return state
        } catch {
            logger.error(
                "the copy of the lookup index cannot be written (--table-file)",
                metadata: ["error": "\(error)"])
            return saved
        }
    }
}

/// Whether the last read of changes found that the database is a standby.
final class StandbyState: Sendable {
    private let isStandby = Atomic(false)

    func set(_ isStandby: Bool) { self.isStandby.store(isStandby, ordering: .relaxed) }

    /// The reason why writes are refused; nil if they are accepted.
    var refusal: String? {
        isStandby.load(ordering: .relaxed)
            ? "\(ServerAdvice.standby.rawValue). \(ServerAdvice.standbyRemedy)" : nil
    }
}

extension IndexFeed.Event {
    /// Whether the log of changes can be read; nil for an event that does not show it.
    fileprivate var isReadable: Bool? {
        switch self {
        case .loaded, .changed, .resumed: true
        case .interrupted: false
        case .quarantined, .released, .standby, .notListening: nil
        }
    }

    fileprivate func log(to logger: Logger) {
        switch self {
        case .loaded(let experiences, let locations, let unreadable, let duration):
            logger.log(
                level: unreadable == 0 ? .notice : .error, "the lookup index is loaded",
                metadata: [
                    "experiences": "\(experiences)", "locations": "\(locations)",
                    "unreadable_rows": "\(unreadable)",
                    "duration_ms": "\(Int64(duration / .milliseconds(1)))",
                ])
        case .changed(let rows, let relations, let unreadable):
            logger.log(
                level: unreadable == 0 ? .debug : .error, "the lookup index has changed",
                metadata: [
                    "rows": "\(rows)", "whole_relations": "\(relations)", "unreadable_rows": "\(unreadable)",
                ])
        case .quarantined(let tenant, let error):
            logger.error(
                "a tenant's catalogue cannot be copied from the database: its lookups use the last copy until a retry succeeds",
                metadata: ["tenant": "\(tenant)", "error": "\(error)"])
        case .released(let tenant):
            logger.notice(
                "the tenant's catalogue is copied from the database again", metadata: ["tenant": "\(tenant)"])
        case .interrupted(let error as PostgreSQLError)
        where error.isNoResponse && !error.isCancelledStatement:
            logger.warning(
                "the database does not respond: serving the last lookup index",
                metadata: ["error": "\(error)"])
        case .interrupted(let error):
            logger.error(
                "changes cannot be read from the database: serving the last lookup index",
                metadata: ["error": "\(error)"])
        case .resumed:
            logger.notice("changes are read from the database again")
        case .standby(true):
            logger.error(
                "\(ServerAdvice.standby.rawValue)", metadata: ["remedy": "\(ServerAdvice.standbyRemedy)"])
        case .standby(false):
            logger.notice("the database is no longer a standby")
        case .notListening(let error):
            logger.info(
                "change notifications are unavailable: polling every second", metadata: ["error": "\(error)"])
        }
    }
}
