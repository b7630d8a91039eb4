public import Foundation
public import Tenancy

/// Learns which keys are used, to tell an operator on which day each was used last.
public protocol KeyUsageRecorder: Sendable {
    /// Never waits and never fails: a request does not depend on it.
    func record(_ key: KeyID, of tenant: TenantID, at now: Date)
}
