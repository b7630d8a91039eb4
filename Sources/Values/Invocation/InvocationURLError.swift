/// The reason why a text is not an invocation URL.
public enum InvocationURLError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case tooLong
    case controlCharacter
    case space
    case backslash
    case malformedPercentEncoding
    case notAbsolute
    case noHost
    case userInfo
    case invalidHost
    case invalidPunycode
    case invalidPort

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .empty: "empty"
        case .tooLong: "too_long"
        case .controlCharacter: "control_character"
        case .space: "space"
        case .backslash: "backslash"
        case .malformedPercentEncoding: "malformed_percent_encoding"
        case .notAbsolute: "not_absolute"
        case .noHost: "no_host"
        case .userInfo: "user_info"
        case .invalidHost: "invalid_host"
        case .invalidPunycode: "invalid_punycode"
        case .invalidPort: "invalid_port"
        }
    }

    public var description: String {
        switch self {
        case .empty: "the URL is empty"
        case .tooLong: "the URL, or its canonical form, is longer than \(InvocationURL.maximumLength) bytes"
        case .controlCharacter: "the URL contains a control character"
        case .space: "the URL contains a space: write it as %20"
        case .backslash: "the URL contains a backslash: write it as %5C"
        case .malformedPercentEncoding: "a % in the URL is not followed by two hexadecimal digits"
        case .notAbsolute: "the URL is not absolute: it must begin with a scheme, as in https://example.com"
        case .noHost:
            "the URL has no host: // and a host must follow the scheme, as in https://example.com"
        case .userInfo: "the URL contains a user name or password before its host"
        case .invalidHost: "the URL's host is neither a domain name nor an IP address"
        case .invalidPunycode:
            "a label of the URL's host begins with xn-- but is not a valid A-label: write it in Unicode, or without xn--"
        case .invalidPort: "the URL's port is not a number from 0 to 65535"
        }
    }
}
