import Crypto
import Formats
public import Tenancy

/// The data that an App Clip signs, before hashing: lines, of which the first is the type.
///
/// No line contains a line feed, so no two requests have the same client data.
public struct ClientData: Sendable, Hashable {
    public let bytes: [UInt8]

    /// The client data that attests a key: the challenge alone.
    public static func attestation(challenge: String) -> ClientData {
        ClientData(bytes: Array(challenge.utf8))
    }

    /// The client data that requests a token: `doorstep.token.v1`, the clip, the challenge.
    public static func token(clip: BundleID, challenge: String) -> ClientData? {
        ClientData(lines: ["doorstep.token.v1", clip.text, challenge])
    }

    /// The client data that signs a request: `doorstep.request.v1`, the method, the target, the challenge,
    /// and the SHA-256 of the body in base64url.
    ///
    /// - Parameters:
    ///   - target: Path and query as in the request (RFC 9112 §3.2).
    ///   - body: The body as it was sent.
    /// - Returns: Nil if a value contains a control character or a space, which no request does.
    public static func request(
        method: String, target: String, challenge: String, body: [UInt8]
    ) -> ClientData? {
        ClientData(lines: [
            "doorstep.request.v1", method, target, challenge, Base64URL.text(SHA256.hash(data: body)),
        ])
    }

    /// The hash that the app passes to App Attest, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: bytes)) }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private init?(lines: [String]) {
        guard lines.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }) else { return nil }
        bytes = Array(lines.joined(separator: "\n").utf8)
    }
}
