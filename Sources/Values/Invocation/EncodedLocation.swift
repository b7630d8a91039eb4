import Formats
import Foundation

/// A location that an invocation URL contains in its query, with the signature that authenticates it.
///
/// This type verifies nothing: neither the signature nor the ranges of the numbers. Source: Apple,
/// "Confirming a person's physical location" ("encode the location information in the URL"); the signature
/// is [ours].
public struct EncodedLocation: Sendable, Hashable {
    /// Degrees.
    public let latitude: Double

    /// Degrees.
    public let longitude: Double

    /// Metres; nil if the rule names no radius.
    public let radius: Double?

    /// The latitude and longitude as written in the URL, `latitude,longitude`.
    public let identifier: LocationIdentifier

    /// The signed text: the canonical URL without its fragment and without any query item named `sig`.
    public let signedText: String

    /// The bytes of the first query item named `sig`.
    public let signature: [UInt8]
}

extension EncodedLocation: CustomStringConvertible {
    /// A fixed text without the coordinate.
    public var description: String { "a location in the URL" }
}

extension EncodedLocation {
    /// The name of the query item that contains the signature.
    static let signatureName = "sig"

    /// Nil if a value is missing or is not a plain decimal number, or if the signature is not base64url.
    init?(in invocation: InvocationURL, latitude: String, longitude: String, radius: String?) {
        guard let latitudeText = invocation.firstValue(named: latitude),
            let latitude = Self.number(latitudeText),
            let longitudeText = invocation.firstValue(named: longitude),
            let longitude = Self.number(longitudeText),
            let identifier = try? LocationIdentifier("\(latitudeText),\(longitudeText)"),
            let signatureText = invocation.firstValue(named: Self.signatureName), !signatureText.isEmpty,
            let signature = Base64URL.bytes(signatureText)
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        if let radius {
            guard let metres = invocation.firstValue(named: radius).flatMap(Self.number) else { return nil }
            self.radius = metres
        } else {
            self.radius = nil
        }
        self.identifier = identifier
        self.signature = signature
        signedText = invocation.text(withoutItemsNamed: Self.signatureName)
    }

    /// A decimal number as people write it: `-12.5`, no exponent, at most 32 characters.
    private static func number(_ text: String) -> Double? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= 32, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) })
        else { return nil }
        return Double(text)
    }
}
