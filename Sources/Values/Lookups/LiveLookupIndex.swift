public import Foundation
import Synchronization
public import Tenancy

/// The routing table that answers are given from, replaced as a whole when something changes.
///
/// Safe to use from many threads: whoever reads keeps the state it got, unaffected by those that come after.
public final class LiveLookupIndex: Sendable {
    /// A table, and how far it can be trusted.
    public final class State: Sendable {
        public let source: Source
        /// When the table was known to be what the database said.
        public let asOf: Date
        /// Another number for each other table.
        public let version: Int
        fileprivate let snapshot: IndexSnapshot

        fileprivate init(_ snapshot: IndexSnapshot, source: Source, asOf: Date, version: Int) {
            self.snapshot = snapshot
            self.source = source
            self.asOf = asOf
            self.version = version
        }

        public var table: LookupIndex { snapshot.table }

        /// What the table holds of one tenant.
        public func table(of tenant: TenantID) -> TenantTable { TenantTable(of: tenant, in: snapshot) }

        /// As ``LookupIndex/provedHost(_:)``, without a copy of the table.
        public func provedHost(_ host: String) -> LookupIndex.ProvedHost? { snapshot.table.provedHost(host) }

        /// As ``LookupIndex/keyHolder(digest:at:)``, without a copy of the table: inlined in another module it would make one.
        @inline(never)
        public func keyHolder(digest: Span<UInt8>, at now: Date) -> KeyHolder? {
            snapshot.table.keyHolder(digest: digest, at: now)
        }
    }

    /// Where a table came from.
    public enum Source: String, Sendable {
        case database
        /// A table that was saved earlier; the database has not answered since the start.
        case file
    }

    private let state = Mutex<State?>(nil)
    private let quarantine = Mutex<[TenantID: Date]>([:])
    private let trust: LocationTrust

    /// - Parameter trust: Which places that URLs carry in themselves are believed.
    public init(trusting trust: LocationTrust = .nothing) {
        self.trust = trust
    }

    /// Nil before the first table is there.
    public var current: State? { state.withLock { $0 } }

    /// The tenants whose catalogue cannot be copied from the database, each with the time of its first failure.
    ///
    /// Their lookups are answered from the last version that was copied; their keys, limits, clips and domains are up to date.
    public var quarantined: [TenantID: Date] { quarantine.withLock { $0 } }

    /// Records that a tenant's catalogue cannot be copied, or, with nil, that it was.
    public func setQuarantined(_ since: Date?, _ tenant: TenantID) {
        quarantine.withLock { $0[tenant] = since }
    }

    /// Puts a table in the place of the one before, for everyone who asks from now on.
    public func replace(by table: LookupIndex, from source: Source, asOf: Date) {
        let snapshot = IndexSnapshot(table, trusting: trust)
        replace { old in State(snapshot, source: source, asOf: asOf, version: (old?.version ?? 0) + 1) }
    }

    /// The table there is was found to be what the database says.
    public func confirm(asOf: Date) {
        replace { old in
            old.map { State($0.snapshot, source: $0.source, asOf: asOf, version: $0.version) }
        }
    }

    private func replace(_ make: (State?) -> State?) {
        // The old state is let go outside the lock: to free a large table takes a while.
        let old = state.withLock { state in
            let old = state
            state = make(old)
            return old
        }
        withExtendedLifetime(old) {}
    }
}
