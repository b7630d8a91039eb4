public import AppAttest
public import Foundation
public import Tenancy

/// Counts by day which attestation the requests of a tenant's clips carried. The counts show whether a clip can require the
/// attestation that it monitors.
public protocol AttestationRecorder: Sendable {
    /// Accepts a count without waiting for storage. The count does not contain the request's key.
    /// - Parameter grade: `none` if the request carried no valid attestation.
    func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    )
}
