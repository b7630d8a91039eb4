public import AppAttest
public import Foundation
public import Tenancy

/// Where the keys are kept that devices attested. What a tenant's key is, no other tenant's function sees.
///
/// Each function throws the store's own error when that does not answer.
public protocol AttestedKeys: Sendable {
    /// Keeps a key, unless there is one of its ID.
    /// - Parameters:
    ///   - attestation: By which one that is sent again is known; not kept itself.
    ///   - clip: One of the tenant's.
    func add(
        _ key: AttestedKey, attestedBy attestation: [UInt8], of clip: BundleID, _ tenant: TenantID,
        at now: Date
    ) async throws -> KeyAddition

    func key(_ id: [UInt8], of tenant: TenantID) async throws -> RegisteredKey?

    /// Makes a counter the one of a key, if it is greater: of two that come at once with one counter, one is told so.
    func advance(_ id: [UInt8], to counter: UInt32, of tenant: TenantID, at now: Date) async throws -> Bool
}

/// What became of a key that is to be kept.
public enum KeyAddition: Sendable, Hashable {
    case added
    /// It is there by the very same attestation.
    case repeated
    /// It is there by another attestation, or of another clip.
    case taken
    /// The tenant does not have the clip any more.
    case unknownClip
}

/// A key as it is kept.
public struct RegisteredKey: Sendable, Hashable {
    public let clip: BundleID
    public let environment: AttestationEnvironment
    /// As it was attested; nil before iOS 27.
    public let category: ValidationCategory?
    /// Uncompressed, 65 bytes.
    public let publicKey: [UInt8]
    /// Of its latest assertion; zero before the first.
    public let counter: UInt32

    public init(
        clip: BundleID, environment: AttestationEnvironment, category: ValidationCategory?,
        publicKey: [UInt8], counter: UInt32
    ) {
        self.clip = clip
        self.environment = environment
        self.category = category
        self.publicKey = publicKey
        self.counter = counter
    }
}
