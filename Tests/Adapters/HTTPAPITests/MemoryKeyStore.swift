import Administration
import Formats
import Foundation
import Invocation
import Synchronization
import Tenancy

/// Stores records of keys in memory.
final class MemoryKeyStore: KeyStore {
    private let records = Mutex<[TenantID: [KeyID: KeyRecord]]>([:])

    func add(_ record: KeyRecord, of tenant: TenantID) {
        records.withLock { $0[tenant, default: [:]][record.id] = record }
    }

    func keys(of tenant: TenantID, after: KeyID?, limit: Int) async throws -> [KeyRecord] {
        records.withLock { records in
            (records[tenant] ?? [:]).values.sorted { $0.id.description < $1.id.description }
                .filter { $0.id.description > after?.description ?? "" }.prefix(limit).map(\.self)
        }
    }

    private func record(of maker: Actor, _ tenant: TenantID) async throws -> KeyRecord? {
        guard case .key(let id) = maker else { return nil }
        return try await key(id, of: tenant)
    }

    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord? {
        records.withLock { $0[tenant]?[id] }
    }

    func create(
        _ kind: KeyKind, by generate: APIKey.Generator, named name: DisplayName?, scopes: Scopes?,
        locations: Set<LocationIdentifier>?, expiresAt: Date?, by maker: Actor, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        guard let maker = try await self.record(of: maker, tenant) else {
            throw AdministrationError.keyNotActive
        }
        let grant = try maker.grant(
            to: kind, scopes: scopes, locations: locations, expiresAt: expiresAt)
        let key = generate(kind, false)
        let record = KeyRecord(
            id: KeyID(UUID()), name: name, kind: kind, scopes: grant.scopes, locations: grant.locations,
            hint: key.hint, createdAt: Date(timeIntervalSince1970: 0), expiresAt: grant.expiresAt,
            revokedAt: nil,
            lastUsedOn: nil)
        add(record, of: tenant)
        return (key, record)
    }

    func rotate(
        _ id: KeyID, by generate: APIKey.Generator, oldExpiresAt: Date, by maker: Actor,
        of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        guard let old = try await self.key(id, of: tenant) else { throw AdministrationError.unknownKey }
        guard let maker = try await self.record(of: maker, tenant),
            maker.mayChange(old)
        else {
            throw AdministrationError.widerKey
        }
        return try await create(
            old.kind, by: generate, named: old.name, scopes: old.scopes, locations: old.locations,
            expiresAt: old.expiresAt, by: .key(maker.id), of: tenant)
    }

    func update(
        _ id: KeyID, _ change: KeyChange, by maker: Actor, of tenant: TenantID
    ) async throws -> (record: KeyRecord, isVisible: Bool) {
        guard let old = try await self.key(id, of: tenant) else { throw AdministrationError.unknownKey }
        guard let maker = try await self.record(of: maker, tenant),
            maker.mayChange(old),
            maker.covers(old.scopes, at: old.locations, until: change.expiresAt ?? old.expiresAt)
        else { throw AdministrationError.widerKey }
        let record = KeyRecord(
            id: old.id, name: change.name ?? old.name, kind: old.kind, scopes: old.scopes,
            locations: old.locations, hint: old.hint,
            createdAt: old.createdAt, expiresAt: change.expiresAt ?? old.expiresAt, revokedAt: old.revokedAt,
            lastUsedOn: old.lastUsedOn)
        add(record, of: tenant)
        return (record, true)
    }

    func revoke(_ id: KeyID, by maker: Actor, of tenant: TenantID) async throws -> Bool {
        guard let old = try await key(id, of: tenant) else { throw AdministrationError.unknownKey }
        guard let maker = try await self.record(of: maker, tenant),
            maker.mayChange(old)
        else { throw AdministrationError.widerKey }
        return try records.withLock { records in
            guard records[tenant]?.removeValue(forKey: id) != nil else {
                throw AdministrationError.unknownKey
            }
            return true
        }
    }
}

/// An audit log with the entries of a test.
final class MemoryAuditLog: AuditLog {
    private let entries = Mutex<[TenantID: [AuditEntry]]>([:])
    /// How many entries a page examines at most.
    let examined: Int

    init(examined: Int = .max) {
        self.examined = examined
    }

    private let requests = Mutex<[TenantID: [RefusedRequest]]>([:])

    func add(_ entry: AuditEntry, of tenant: TenantID) {
        entries.withLock { $0[tenant, default: []].append(entry) }
    }

    func add(_ request: RefusedRequest, of tenant: TenantID) {
        requests.withLock { $0[tenant, default: []].append(request) }
    }

    func refusedRequests(
        of tenant: TenantID, _ selection: RefusedRequestSelection, before: UUID?, limit: Int
    ) async throws -> [RefusedRequest] {
        requests.withLock { requests in
            (requests[tenant] ?? []).reversed().filter { request in
                selection.selects(request) && before.map { request.id.uuidString < $0.uuidString } != false
            }.prefix(limit).map(\.self)
        }
    }

    func page(
        of tenant: TenantID, before: Int?, limit: Int, where filter: [String: String]
    ) async throws -> AuditLogPage {
        entries.withLock { entries in
            let older = (entries[tenant] ?? []).reversed().filter { $0.id < before ?? .max }
            let examined = older.prefix(self.examined)
            let found = examined.filter { entry in
                filter.allSatisfy { entry.json[$0.key] == .string($0.value) }
            }.prefix(limit)
            let isStopped = found.count < limit && examined.count < older.count
            return AuditLogPage(entries: Array(found), stoppedAt: isStopped ? examined.last?.id : nil)
        }
    }
}
