import Crypto
import Encodings
public import Tenancy

/// What an App Clip signs, before it is hashed: lines of which the first says what it is.
///
/// No line holds a line feed, so no two requests have the same client data.
public struct ClientData: Sendable, Hashable {
    public let bytes: [UInt8]

    /// What attests a key: the challenge alone.
    public static func attestation(challenge: String) -> ClientData {
        ClientData(bytes: Array(challenge.utf8))
    }

    /// What asks for a token: `doorstep.token.v1`, the clip, the challenge.
    public static func token(clip: BundleID, challenge: String) -> ClientData? {
        ClientData(lines: ["doorstep.token.v1", clip.text, challenge])
    }

    /// What signs a request: `doorstep.request.v1`, the method, the target, the challenge, and the SHA-256 of the body in
    /// base64url.
    /// - Parameters:
    ///   - target: As it stands in the request (RFC 9112 §3.2): path and query.
    ///   - body: As it was sent.
    /// - Returns: Nil when something holds a control character or a space, which no request does.
    public static func request(
        method: String, target: String, challenge: String, body: [UInt8]
    ) -> ClientData? {
        ClientData(lines: [
            "doorstep.request.v1", method, target, challenge, Base64URL.text(SHA256.hash(data: body)),
        ])
    }

    /// What the app gives to App Attest, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: bytes)) }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private init?(lines: [String]) {
        guard lines.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }) else { return nil }
        bytes = Array(lines.joined(separator: "\n").utf8)
    }
}
