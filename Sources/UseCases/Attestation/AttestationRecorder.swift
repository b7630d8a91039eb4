public import AppAttest
public import Foundation
public import Tenancy

/// Counts what requests of a tenant's clips bring of App Attest, by the day: by such counts it is judged whether a clip may
/// require what it has monitored.
public protocol AttestationRecorder: Sendable {
    /// Takes a count without waiting for it to be kept. By whose key a request came, it is not told.
    /// - Parameter grade: `none` where nothing came that holds.
    func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    )
}
