public import AppAttest
import Encodings
public import Foundation
public import JSON
public import Tenancy

/// The ID of a key of App Attest: the SHA-256 of its public key. It stands for one installation of an app.
public struct AttestKeyID: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// From base64url, as lists show it, or from base64 (RFC 4648), as the device and its app have it; nil for anything else.
    public init?(_ text: String) {
        let encoded = text.hasSuffix("=") ? String(text.dropLast()) : text
        guard
            let bytes = Base64URL.bytes(
                encoded.replacing("+", with: "-").replacing("/", with: "_"))
        else { return nil }
        self.init(bytes)
    }

    /// In base64url, 43 characters, so that it needs no encoding in a path.
    public var description: String { Base64URL.text(bytes) }
}

/// An App Attest key of a device.
public struct AttestKeyRecord: Sendable, Hashable {
    public let id: AttestKeyID
    /// The clip's bundle ID, also when the full app uses the key.
    public let clip: BundleID
    /// Properties that the app reported when the key was attested.
    public let build: AttestedBuild
    /// Nil where the device does not say, as none before iOS 27 does.
    public let bundleVersion: String?
    /// Days of UTC, such as `2026-03-01`.
    public let attestedOn: String
    public let lastUsedOn: String
    /// Nil for a key that is good.
    public let revokedAt: Date?

    public init(
        id: AttestKeyID, clip: BundleID, build: AttestedBuild, bundleVersion: String?, attestedOn: String,
        lastUsedOn: String, revokedAt: Date?
    ) {
        self.id = id
        self.clip = clip
        self.build = build
        self.bundleVersion = bundleVersion
        self.attestedOn = attestedOn
        self.lastUsedOn = lastUsedOn
        self.revokedAt = revokedAt
    }

    public var json: JSONObject {
        [
            "id": .string(id.description), "clip": .string(clip.text),
            "environment": .string(build.environment.rawValue),
            "category": build.category.map { .string($0.name) } ?? .null,
            "bundleVersion": bundleVersion.map(JSONValue.string) ?? .null,
            "attestedOn": .string(attestedOn), "lastUsedOn": .string(lastUsedOn),
            "revokedAt": revokedAt.map { JSONValue($0) } ?? .null,
        ]
    }
}

/// Where a tenant's keys of App Attest are listed and revoked.
public protocol AttestKeyStore: Sendable {
    /// By ID, after one, up to `limit`.
    func keys(of tenant: TenantID, after: AttestKeyID?, limit: Int) async throws -> [AttestKeyRecord]

    /// Has every server refuse a key, and the tokens that were given for it, from within a second on; for good.
    /// - Parameter actor: The actor in the audit log.
    /// - Returns: Whether this server refuses it.
    /// - Throws: `AdministrationError.unknownAttestKey`.
    func revoke(_ id: AttestKeyID, of tenant: TenantID, by actor: String) async throws -> Bool
}
