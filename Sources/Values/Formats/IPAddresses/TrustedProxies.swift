/// The proxies whose `X-Forwarded-For` is trusted.
package struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    package init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    package func contains(_ peer: IPAddress?) -> Bool {
        guard let peer else { return false }
        return ranges.contains { $0.contains(peer) }
    }

    /// Returns the client behind a connection of a trusted proxy, or of several in a row.
    ///
    /// Each proxy appends the address that connected to it to `X-Forwarded-For`. So the last address that
    /// is not a trusted proxy's is the client's; the client can have forged everything before it.
    package func address(behind proxy: IPAddress?, forwardedFor: String?) -> IPAddress? {
        var nearest = proxy
        guard let forwardedFor else { return nearest }
        let field = forwardedFor.utf8.span
        var end = field.count
        while end > 0 {
            var start = end
            while start > 0, field[start - 1] != UInt8(ascii: ",") { start -= 1 }
            let part = field.extracting(field.withoutBlanks(start..<end))
            end = start - 1
            if part.isEmpty { continue }
            guard let address = IPAddress(forwarded: part) else { break }
            nearest = address
            guard contains(address) else { break }
        }
        return nearest
    }
}

extension Span<UInt8> {
    /// A part without the spaces and tabs around it (RFC 9110 §5.6.3).
    fileprivate func withoutBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Self.isBlank(self[start]) { start += 1 }
        while start < end, Self.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension IPAddress {
    /// The key of a client: its IPv4 address, or its IPv6 /64 network, the smallest that a subscriber gets
    /// (RFC 6177 §2).
    package var ofClient: IPAddress { isV4 ? self : IPAddress(high: high, low: 0) }

    /// No address with its port is longer or contains characters outside ASCII.
    private static let maximumLength = "[0000:0000:0000:0000:0000:ffff:255.255.255.255]:65535".utf8.count

    /// Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
    fileprivate init?(forwarded text: Span<UInt8>) {
        guard text.count <= Self.maximumLength else { return nil }
        let text = text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self)[...] }
        if text.first == "[" {
            self.init(text.dropFirst().prefix { $0 != "]" })
        } else if text.contains("."), let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }
}
