public import Foundation
public import Tenancy

/// Records the day of each key's last use.
public protocol KeyUsageRecorder: Sendable {
    /// Never waits and never fails, because a request must not depend on it.
    func record(_ key: KeyID, of tenant: TenantID, at now: Date)
}
