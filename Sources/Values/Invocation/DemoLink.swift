extension InvocationURL {
    /// Whether the URL has the short form of a demo link, which may be printed in an App Clip Code [Apple]:
    /// on Apple's host, one path component other than the `id` of default links, and nothing after it.
    /// [ours]
    ///
    /// Whether Apple has issued the link is unknown.
    public var isShortDemoLink: Bool {
        let path = bytes[pathRange]
        return isMatchable && hasHost(DefaultLink.host) && pathRange.upperBound == bytes.count
            && path.count > 1
            && !path.dropFirst().contains(UInt8(ascii: "/")) && !path.elementsEqual("/id".utf8)
    }
}

extension Experience {
    /// Whether a demo experience's URL can be a demo link: on Apple's host, without parameters. [Apple]
    var isDemoLink: Bool {
        kind == .demo && url.host == DefaultLink.host && url.queryItems.isEmpty
    }
}
