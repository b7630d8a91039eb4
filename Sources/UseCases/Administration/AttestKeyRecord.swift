public import AppAttest
public import Formats
public import Foundation
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

    /// Reads base64url, which lists show, or base64 (RFC 4648), which devices and apps use. Nil for any other text.
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
    /// Nil if the device does not report it. Devices report it from iOS 27 on.
    public let bundleVersion: String?
    /// Days of UTC, such as `2026-03-01`.
    public let attestedOn: String
    public let lastUsedOn: String
    /// Nil for a valid key.
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

/// Lists and revokes a tenant's keys of App Attest.
public protocol AttestKeyStore: Sendable {
    /// At most `limit` keys, sorted by ID, after a given one.
    func keys(of tenant: TenantID, after: AttestKeyID?, limit: Int) async throws -> [AttestKeyRecord]

    /// Revokes a key permanently. Within a second, every server refuses the key and its tokens.
    /// - Parameter actor: The actor in the audit log.
    /// - Returns: Whether this server refuses the key already.
    /// - Throws: `AdministrationError.unknownAttestKey`.
    func revoke(_ id: AttestKeyID, of tenant: TenantID, by actor: String) async throws -> Bool
}
