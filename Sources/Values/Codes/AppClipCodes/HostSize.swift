/// The estimated size of everything before path, query and fragment.
struct HostSize {
    /// `others` counts the characters of the host's text, except a leading `www.`.
    let cost: TextCost

    /// - Parameters:
    ///   - host: Two or more labels in lower case.
    ///   - hasPayload: Whether path, query or fragment follows.
    init(_ host: ArraySlice<UInt8>, hasPayload: Bool) {
        let dot = host.lastIndex(of: UInt8(ascii: ".")) ?? host.endIndex
        let domain = Domain(host[dot...].dropFirst())
        // Three bits for begin, template and subdomain, then the class of the top-level domain.
        let text = domain.isSpelledOut ? host : host[..<dot]
        cost = TextCost(hostText: text, hasPayload: hasPayload).adding(bits: 3 + domain.bits)
    }

    /// The class of a top-level domain; the names are in alphabetical order.
    private enum Domain {
        case com
        case organization
        case short
        case byte
        case spelledOut

        init(_ name: ArraySlice<UInt8>) {
            let name = String(decoding: name, as: UTF8.self)
            self =
                switch name {
                case "com": .com
                case "org", "net": .organization
                default:
                    Self.shortNames.contains(name)
                        ? .short : Self.byteNames.contains(name) ? .byte : .spelledOut
                }
        }

        var bits: Double {
            switch self {
            case .com: 1 + 1.10
            case .organization: 1 + 3.76
            case .short: 1 + 5.58
            case .byte: 2 + 8
            case .spelledOut: 2
            }
        }

        var isSpelledOut: Bool {
            if case .spelledOut = self { true } else { false }
        }

        private static let shortNames: Set<String> = [
            "au", "br", "ca", "cn", "de", "edu", "fr", "ga", "in", "info", "it", "jp", "nl", "pl", "ru", "uk",
            "us",
        ]

        private static let byteNames: Set<String> = [
            "ae", "ai", "am", "app", "ar", "at", "be", "bid", "bike", "biz", "business", "by", "cc", "center",
            "cf",
            "ch", "cl", "cloud", "club", "cm", "company", "cz", "digital", "dk", "do", "es", "estate", "eu",
            "fi",
            "fun", "gl", "global", "gov", "gr", "gt", "help", "hk", "host", "hu", "id", "ie", "il", "int",
            "io", "is",
            "jobs", "kr", "kz", "life", "live", "loan", "ltd", "lu", "ly", "md", "me", "media", "mo", "mobi",
            "museum", "mx", "my", "name", "network", "news", "no", "nu", "nz", "online", "ph", "pk", "plus",
            "pm",
            "pt", "pub", "py", "qa", "ro", "se", "services", "sg", "shop", "site", "sk", "so", "space",
            "store",
            "stream", "su", "support", "tech", "tel", "th", "tk", "tn", "to", "top", "tr", "travel", "tt",
            "tv", "tw",
            "ua", "video", "vip", "vn", "wang", "website", "wiki", "win", "work", "world", "za",
        ]
    }
}
