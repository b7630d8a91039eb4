public import Foundation
public import Geodesy
import Synchronization
public import Tenancy

/// The current lookup index, which is replaced as a whole when something changes.
///
/// Safe to use from many threads: a reader keeps the state that it got, and later changes do not affect it.
public final class LiveLookupIndex: Sendable {
    /// An index, with its source and age.
    public final class State: Sendable {
        public let source: Source
        /// The latest time at which the index was known to equal the database.
        public let asOf: Date
        /// A number that differs for each index.
        public let version: Int
        fileprivate let snapshot: IndexSnapshot

        fileprivate init(_ snapshot: IndexSnapshot, source: Source, asOf: Date, version: Int) {
            self.snapshot = snapshot
            self.source = source
            self.asOf = asOf
            self.version = version
        }

        public var table: LookupIndex { snapshot.table }

        /// Returns the index's table of one tenant.
        public func table(of tenant: TenantID) -> TenantTable { TenantTable(of: tenant, in: snapshot) }

        /// Passes each location of each tenant to the closure, in no order: its tenant, its centre, and its identifier and name in
        /// UTF-8.
        public func forEachLocation(
            _ body: (
                _ tenant: TenantID, _ center: Coordinate?, _ identifier: Span<UInt8>, _ name: Span<UInt8>
            )
                -> Void
        ) {
            let table = snapshot.table
            table.locations.forEach { header, text in
                let tenant = table.tenants[Int(header.tenant)]
                guard tenant.isPresent else { return }
                body(
                    tenant.id, header.center, text.extracting(header.identifier), text.extracting(header.name)
                )
            }
        }

        /// Returns ``LookupIndex/provedHost(_:)`` without a copy of the index.
        public func provedHost(_ host: String) -> LookupIndex.ProvedHost? { snapshot.table.provedHost(host) }

        /// Returns ``LookupIndex/keyHolder(digest:at:)``. Not inlined, because inlining in another module
        /// would copy the index.
        @inline(never)
        public func keyHolder(digest: Span<UInt8>, at now: Date) -> KeyHolder? {
            snapshot.table.keyHolder(digest: digest, at: now)
        }
    }

    /// The origin of an index.
    public enum Source: String, Sendable {
        case database
        /// An index that was saved earlier; the database has not responded since the start.
        case file
    }

    private let state = Mutex<State?>(nil)
    private let quarantine = Mutex<[TenantID: Date]>([:])
    private let trust: LocationTrust

    /// - Parameter trust: The locations signed in URLs that are accepted.
    public init(trusting trust: LocationTrust = .nothing) {
        self.trust = trust
    }

    /// Nil before the first index is loaded.
    public var current: State? { state.withLock { $0 } }

    /// The tenants whose catalogue cannot be copied from the database, each with the time of its first failure.
    ///
    /// Lookups of these tenants use the last version that was copied. Their keys, limits, clips and domains are up to date.
    public var quarantined: [TenantID: Date] { quarantine.withLock { $0 } }

    /// Records that a tenant's catalogue cannot be copied or, with nil, that it was copied.
    public func setQuarantined(_ since: Date?, _ tenant: TenantID) {
        quarantine.withLock { $0[tenant] = since }
    }

    /// Replaces the index for all later reads.
    public func replace(by table: LookupIndex, from source: Source, asOf: Date) {
        let snapshot = IndexSnapshot(table, trusting: trust)
        replace { old in State(snapshot, source: source, asOf: asOf, version: (old?.version ?? 0) + 1) }
    }

    /// Records that the current index equals the database.
    public func confirm(asOf: Date) {
        replace { old in
            old.map { State($0.snapshot, source: $0.source, asOf: asOf, version: $0.version) }
        }
    }

    private func replace(_ make: (State?) -> State?) {
        // The old state is released outside the lock, because deallocating a large index takes a while.
        let old = state.withLock { state in
            let old = state
            state = make(old)
            return old
        }
        withExtendedLifetime(old) {}
    }
}
