import Foundation
import Geodesy
import Invocation
import Locations
import Tenancy

/// Tenants' catalogues in memory, and what was recorded of confirmations.
struct MemoryLocationStore: LocationStore {
    /// The calls that a store can fail at.
    enum Call: CaseIterable {
        case catalogue, experiences, location, shortCode, record
    }

    struct Failure: Error, Equatable {
        let call: Call
    }

    var catalogues: [TenantID: MemoryCatalogue] = [:]
    var failing: Call?
    let records = Records()

    func withCatalogue<Result: Sendable>(
        of tenant: TenantID, _ body: (any LocationCatalogue) async throws -> Result
    ) async throws -> Result {
        if failing == .catalogue { throw Failure(call: .catalogue) }
        var catalogue = catalogues[tenant] ?? MemoryCatalogue()
        catalogue.failing = failing
        return try await body(catalogue)
    }

    func record(_ confirmation: ConfirmationRecord, of tenant: TenantID) async throws {
        if failing == .record { throw Failure(call: .record) }
        await records.append(confirmation, of: tenant)
    }

    actor Records {
        private(set) var all: [(tenant: TenantID, record: ConfirmationRecord)] = []

        func append(_ record: ConfirmationRecord, of tenant: TenantID) {
            all.append((tenant, record))
        }
    }
}

struct MemoryCatalogue: LocationCatalogue {
    var experiences: [Experience] = []
    var locations: [Location] = []
    var shortCodes: [String: InvocationURL] = [:]
    var failing: MemoryLocationStore.Call?

    func experiences(near invocation: InvocationURL) async throws -> [Experience] {
        try fail(at: .experiences)
        return experiences
    }

    func location(_ identifier: LocationIdentifier) async throws -> Location? {
        try fail(at: .location)
        return locations.first { $0.identifier == identifier }
    }

    func url(ofShortCode code: String) async throws -> InvocationURL? {
        try fail(at: .shortCode)
        return shortCodes[code]
    }

    private func fail(at call: MemoryLocationStore.Call) throws {
        if failing == call { throw MemoryLocationStore.Failure(call: call) }
    }
}

/// Knows the texts that tenants signed; the signature of each is the bytes of `good`, in base64url `Z29vZA`.
struct MemorySignatures: PlaceSignatures {
    var signed: [TenantID: Set<String>] = [:]

    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool {
        signature == Array("good".utf8) && signed[tenant]?.contains(text) == true
    }
}
