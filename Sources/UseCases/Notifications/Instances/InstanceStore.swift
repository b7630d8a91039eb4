public import APNsPayload
public import Foundation
public import Tenancy

/// Stores instances. Each function is atomic, and throws ``StoreUnavailable`` if the store does not respond.
///
/// A function never returns an instance of another tenant.
public protocol InstanceStore: Sendable {
    /// Stores a launch, as ``InstanceRegistrar`` describes.
    /// - Parameter mayBeNew: Whether an instance that is not known is added.
    /// - Returns: The resulting instance, and whether it is new; or `unknownInstance`, `unknownClip` if the tenant has no such
    ///   clip, `newNotAdmitted`, `otherKey` and `tooManyOfKey`. If two keys register an unbound instance at once, one gets
    ///   `otherKey` if the clip requires attestation.
    func register(
        _ registration: InstanceRegistration, mayBeNew: Bool, of tenant: TenantID, at now: Date
    ) async throws -> Registration

    /// The owner of an instance; nil if the instance does not exist.
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

/// The clip and the key of an instance.
public struct InstanceOwner: Sendable, Hashable {
    public let clip: BundleID
    /// The ID of the key of App Attest that registered the instance first, 32 bytes; nil if none did.
    public let attestKey: [UInt8]?

    public init(clip: BundleID, attestKey: [UInt8]?) {
        self.clip = clip
        self.attestKey = attestKey
    }
}
