import APNsPayload
import Lookups
import Tenancy

extension CollapsePolicy {
    /// The collapse ID of a notification that has none: 34 bytes, always the same for the same business or URL.
    func collapseID(of business: Business, url: String) -> String? {
        switch self {
        case .none: nil
        case .business: "b-" + Self.digest(of: business.text)
        case .url: "u-" + Self.digest(of: url)
        }
    }

    /// 128 bits, so that two businesses of one device have the same by no chance worth naming.
    private static func digest(of text: String) -> String {
        [0x636F_6C6C_6170_7365 as UInt64, 0x646F_6F72_7374_6570].map { seed in
            var hash = ByteHash(seed: seed)
            hash.combine(text.utf8.span)
            let digits = String(hash.value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
