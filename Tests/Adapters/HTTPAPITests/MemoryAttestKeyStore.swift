import Administration
import Foundation
import Synchronization
import Tenancy

/// Stores records of attested keys in memory, without refusals.
final class MemoryAttestKeyStore: AttestKeyStore {
    private let records = Mutex<[TenantID: [AttestKeyRecord]]>([:])

    func add(_ record: AttestKeyRecord, of tenant: TenantID) {
        records.withLock { $0[tenant, default: []].append(record) }
    }

    func keys(of tenant: TenantID, after: AttestKeyID?, limit: Int) async throws -> [AttestKeyRecord] {
        records.withLock { records in
            (records[tenant] ?? []).sorted { Self.isBefore($0.id, $1.id) }
                .filter { record in after.map { Self.isBefore($0, record.id) } ?? true }
                .prefix(limit).map(\.self)
        }
    }

    func revoke(_ id: AttestKeyID, of tenant: TenantID, by actor: String) async throws -> Bool {
        try records.withLock { records in
            guard let index = records[tenant]?.firstIndex(where: { $0.id == id }),
                let record = records[tenant]?[index]
            else { throw AdministrationError.unknownAttestKey }
            records[tenant]?[index] = AttestKeyRecord(
                id: id, clip: record.clip, build: record.build, bundleVersion: record.bundleVersion,
                attestedOn: record.attestedOn, lastUsedOn: record.lastUsedOn,
                revokedAt: record.revokedAt ?? Date(timeIntervalSince1970: 1_772_368_200))
            return true
        }
    }

    private static func isBefore(_ one: AttestKeyID, _ other: AttestKeyID) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}
