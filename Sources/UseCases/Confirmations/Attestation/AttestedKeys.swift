public import AppAttest
public import Foundation
public import Tenancy

/// Stores keys that devices attested. A function never returns keys of another tenant.
///
/// Each function throws the store's own error if the store does not respond.
public protocol AttestedKeys: Sendable {
    /// Stores a key unless a key with its ID exists.
    /// - Parameters:
    ///   - attestation: Used to recognize an attestation that is sent again. It is not stored itself.
    ///   - clip: A clip of the tenant.
    func add(
        _ key: AttestedKey, attestedBy attestation: [UInt8], of clip: BundleID, _ tenant: TenantID,
        at now: Date
    ) async throws -> KeyAddition

    func key(_ id: [UInt8], of tenant: TenantID) async throws -> RegisteredKey?

    /// Raises a key's counter. Of two simultaneous requests with the same counter, one is refused.
    func advance(_ id: [UInt8], to counter: UInt32, of tenant: TenantID, at now: Date) async throws -> Bool
}

/// The result of storing a key.
public enum KeyAddition: Sendable, Hashable {
    case added
    /// It is there by the very same attestation.
    case repeated
    /// It is there by another attestation, or of another clip.
    case taken
    /// The tenant no longer has the clip.
    case unknownClip
}

/// A stored key.
public struct RegisteredKey: Sendable, Hashable {
    public let clip: BundleID
    public let environment: AttestationEnvironment
    /// As attested; nil before iOS 27.
    public let category: ValidationCategory?
    /// Uncompressed, 65 bytes.
    public let publicKey: [UInt8]
    /// The counter of the latest assertion; zero before the first.
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
