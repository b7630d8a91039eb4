import Formats
public import Foundation
public import Invocation
public import Tenancy

/// A token that a server issues for an assertion, so that the next requests need no assertion: a JSON Web
/// Token (RFC 7519) that only Doorstep reads.
public struct AttestationToken: Sendable, Hashable {
    public let tenant: TenantID
    /// The App ID of the full app, by which the key was attested.
    public let appID: AppID
    /// The clip that the key was attested for: if the clip is deleted, the key is deleted too.
    public let clip: BundleID
    /// 32 bytes.
    public let keyID: [UInt8]
    /// The app's statement about its build when the token was issued.
    public let build: AttestedBuild
    /// The time of issue, a whole second.
    public let issuedAt: Date

    /// The number of seconds for which a token is valid. [ours]
    public static let lifetime = 3_600

    public init(
        tenant: TenantID, appID: AppID, clip: BundleID, keyID: [UInt8], build: AttestedBuild, at now: Date
    ) {
        self.tenant = tenant
        self.appID = appID
        self.clip = clip
        self.keyID = keyID
        self.build = build
        issuedAt = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    }

    /// The time of expiry.
    public var expiresAt: Date { issuedAt.addingTimeInterval(Double(Self.lifetime)) }

    /// Returns the token as a JSON Web Signature in its compact form (RFC 7515 §7.1).
    public func text(signedBy keys: AttestationKeys) -> String {
        var claims: JSONObject = [
            "app": .string(appID.text), "clip": .string(clip.text),
            "environment": .string(build.environment.rawValue),
            "exp": JSONValue(Int(expiresAt.timeIntervalSince1970)),
            "iat": JSONValue(Int(issuedAt.timeIntervalSince1970)),
            "key": .string(Base64URL.text(keyID)), "tenant": .string(tenant.description),
        ]
        claims["category"] = build.category.map { .string($0.name) }
        let signed = Self.header + "." + Base64URL.text(JSONValue.object(claims).serialized())
        let code = keys.authenticationCode(for: Array(signed.utf8), use: .token)
        return signed + "." + Base64URL.text(code)
    }

    /// Reads a token of one tenant, for any of its apps.
    ///
    /// The token does not show whether its key was revoked meanwhile, nor whether a clip accepts the build.
    public init(
        reading text: String, of tenant: TenantID, signedBy keys: AttestationKeys, at now: Date
    ) throws(AttestationRefusal) {
        let parts =
            text.utf8.count <= Self.maximumLength
            ? text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) : []
        // The header is constant, so that neither algorithm nor type is taken from the token.
        guard parts.count == 3, parts[0] == Self.header, let code = Base64URL.bytes(parts[2]) else {
            throw .token(.malformed)
        }
        guard keys.isAuthentic(code, for: Array("\(parts[0]).\(parts[1])".utf8), use: .token) else {
            throw .token(.forged)
        }
        guard let bytes = Base64URL.bytes(parts[1]),
            let claims = try? JSONValue(parsing: bytes).objectValue,
            let environment = claims["environment"]?.stringValue
                .flatMap(AttestationEnvironment.init(rawValue:)),
            let keyID = claims["key"]?.stringValue.flatMap(Base64URL.bytes), keyID.count == 32,
            let appID = claims["app"]?.stringValue.flatMap({ try? AppID($0) }),
            let clip = claims["clip"]?.stringValue.flatMap({ try? BundleID($0) }),
            let start = claims["iat"]?.numberValue?.double, let end = claims["exp"]?.numberValue?.double
        else { throw .token(.malformed) }
        // A category that this version does not know counts as not stated.
        let category = claims["category"]?.stringValue.flatMap(ValidationCategory.init(name:))
        guard category != nil || claims["category"] == nil else { throw .token(.malformed) }
        guard claims["tenant"] == .string(tenant.description) else { throw .token(.otherTenant) }
        guard now.timeIntervalSince1970 < min(end, start + Double(Self.lifetime)) else {
            throw .token(.expired)
        }
        self.init(
            tenant: tenant, appID: appID, clip: clip, keyID: keyID,
            build: AttestedBuild(environment: environment, category: category),
            at: Date(timeIntervalSince1970: start))
    }

    /// Rejects a token of another app, even if that app belongs to the clip of the request.
    public func check(_ appID: AppID) throws(AttestationRefusal) {
        guard self.appID == appID else { throw .token(.otherApp) }
    }

    /// Far longer than any token, in bytes.
    private static let maximumLength = 2_048

    private static let header = Base64URL.text(Array(#"{"alg":"HS256","typ":"doorstep-attest+jwt"}"#.utf8))
}
