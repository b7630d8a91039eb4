import AppAttest
import Confirmations
import Foundation
import Synchronization
import Tenancy

/// Stores attested keys in memory.
final class MemoryAttestedKeys: AttestedKeys {
    private struct Name: Hashable {
        let tenant: TenantID
        let id: [UInt8]
    }

    private struct Entry {
        let key: RegisteredKey
        let attestation: [UInt8]
        var counter: UInt32 = 0
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        var isAway = false
    }

    private let state = Mutex(State())

    /// Makes the store unavailable, or available again.
    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    private func entries<Result>(_ body: (inout [Name: Entry]) -> Result) throws -> Result {
        try state.withLock { state in
            if state.isAway { throw StoreUnavailable() }
            return body(&state.entries)
        }
    }

    func add(
        _ key: AttestedKey, attestedBy attestation: [UInt8], of clip: BundleID, _ tenant: TenantID,
        at now: Date
    ) async throws -> KeyAddition {
        try entries { entries in
            let name = Name(tenant: tenant, id: key.id)
            if let known = entries[name] {
                return known.attestation == attestation && known.key.clip == clip ? .repeated : .taken
            }
            entries[name] = Entry(
                key: RegisteredKey(
                    clip: clip, environment: key.environment, category: key.category,
                    publicKey: key.publicKey, counter: 0),
                attestation: attestation)
            return .added
        }
    }

    func key(_ id: [UInt8], of tenant: TenantID) async throws -> RegisteredKey? {
        try entries { entries in
            entries[Name(tenant: tenant, id: id)].map {
                RegisteredKey(
                    clip: $0.key.clip, environment: $0.key.environment, category: $0.key.category,
                    publicKey: $0.key.publicKey, counter: $0.counter)
            }
        }
    }

    func advance(
        _ id: [UInt8], to counter: UInt32, of tenant: TenantID, at now: Date
    ) async throws -> Bool {
        try entries { entries in
            let name = Name(tenant: tenant, id: id)
            guard let known = entries[name], known.counter < counter else { return false }
            entries[name]?.counter = counter
            return true
        }
    }
}
