/// The reason why an experience cannot be registered with a text as its URL.
public enum URLPrefixError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidURL(InvocationURLError)
    case notHTTPS

    /// The host contains characters outside ASCII; `aLabel` is the form to register.
    case nonASCIIHost(aLabel: String)
    case port
    case ipAddress
    case fragment
    case tooManyPathComponents
    case tooManyQueryItems

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .invalidURL(let error): error.code
        case .notHTTPS: "not_https"
        case .nonASCIIHost: "non_ascii_host"
        case .port: "port"
        case .ipAddress: "ip_address"
        case .fragment: "fragment"
        case .tooManyPathComponents: "too_many_path_components"
        case .tooManyQueryItems: "too_many_query_items"
        }
    }

    public var description: String {
        switch self {
        case .invalidURL(let error): error.description
        case .notHTTPS: "an experience's URL must be https"
        case .nonASCIIHost(let aLabel): "the URL's host must be ASCII: register it as \(aLabel)"
        case .port: "an experience's URL has no port"
        case .ipAddress: "an experience's URL names a domain, not an IP address"
        case .fragment: "an experience's URL has no fragment"
        case .tooManyPathComponents:
            "an experience's URL has at most \(URLPrefix.maximumPathComponents) path components"
        case .tooManyQueryItems:
            "an experience's URL has at most \(URLPrefix.maximumQueryItems) different query items"
        }
    }
}
