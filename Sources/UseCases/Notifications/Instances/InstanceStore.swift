public import APNsPayload
public import Foundation
public import Tenancy

/// Where instances are kept. Each function is done whole or not at all, and throws ``StoreUnavailable`` when the store does not
/// answer.
///
/// What a tenant's instance is, no other tenant's function sees.
public protocol InstanceStore: Sendable {
    /// Keeps a launch as ``InstanceRegistrar`` says.
    /// - Parameter mayBeNew: Whether an instance that is not known is added.
    /// - Returns: The instance as it is then, and whether there was none before; or `unknownInstance`, `unknownClip` when
    ///   the tenant does not have the clip (any more), `newNotAdmitted`, `otherKey` and `tooManyOfKey`. Of two keys that
    ///   come at once for an instance that is bound to none, one is told `otherKey` where they are held to their keys.
    func register(
        _ registration: InstanceRegistration, mayBeNew: Bool, of tenant: TenantID, at now: Date
    ) async throws -> Registration

    /// Whose an instance is; nil when there is none.
    func owner(of id: InstanceID, of tenant: TenantID) async throws -> InstanceOwner?

    func instance(_ id: InstanceID, of tenant: TenantID) async throws -> Instance?

    /// - Returns: Whether there was one.
    func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool

    /// - Returns: Whether the instance is there.
    func setToken(
        _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID, at now: Date
    ) async throws -> Bool

    /// - Returns: Whether it was there.
    func removeActivity(
        _ activity: String, for id: InstanceID, of tenant: TenantID
    ) async throws -> Bool
}

/// Whose an instance is.
public struct InstanceOwner: Sendable, Hashable {
    public let clip: BundleID
    /// The ID of the key of App Attest that registered it first, 32 bytes; nil where none has.
    public let attestKey: [UInt8]?

    public init(clip: BundleID, attestKey: [UInt8]?) {
        self.clip = clip
        self.attestKey = attestKey
    }
}
