import Crypto
public import Formats
import Foundation

/// A token that was verified as RFC 7515 §5.2 says, apart from the code that signs.
public enum VerifiedToken {
    public struct Refused: Error {}

    public static func read(
        _ token: String, keys: JSONValue
    ) throws -> (header: JSONObject, claims: JSONObject) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Refused() }
        let header = try object(parts[0])
        guard let id = header["kid"], header["alg"] == "ES256",
            let key = keys.objectValue?["keys"]?.arrayValue?.first(where: { $0.objectValue?["kid"] == id }),
            let x = key.objectValue?["x"]?.stringValue, let y = key.objectValue?["y"]?.stringValue
        else { throw Refused() }
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: try data(x[...]) + data(y[...]))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try data(parts[2]))
        guard publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)) else {
            throw Refused()
        }
        return (header, try object(parts[1]))
    }

    private static func object(_ part: Substring) throws -> JSONObject {
        guard let object = try? JSONValue(parsing: try data(part)).objectValue else { throw Refused() }
        return object
    }

    private static func data(_ part: Substring) throws -> Data {
        let padding = String(repeating: "=", count: (4 - part.utf8.count % 4) % 4)
        guard !part.contains(where: { "=+/".contains($0) }),
            let data = Data(
                base64Encoded: part.replacing("-", with: "+").replacing("_", with: "/") + padding)
        else { throw Refused() }
        return data
    }
}
