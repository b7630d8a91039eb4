import Administration
import Formats
import Foundation
import Notifications
import Tenancy

/// The parts of requests outside the body. The HTTP libraries separate lines, fields and cookies before.
extension FuzzTarget {
    /// A value is valid UTF-8, and stays the same if each of its bytes is encoded.
    static let query = FuzzTarget("query", upTo: 8_192) { bytes in
        guard let parameters = try? QueryParameters(bytes.span, named: names) else { return }
        var encoded: [UInt8] = []
        for name in names {
            guard let value = parameters[name] else { continue }
            precondition(String(validating: value, as: UTF8.self) != nil)
            encoded += "&\(name)=".utf8
            for byte in value {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        let again = try? QueryParameters(encoded.span, named: names)
        precondition(names.allSatisfy { again?[$0] == parameters[$0] })
    }

    /// No field contains characters that PostgreSQL's texts cannot contain.
    static let form = FuzzTarget("form", upTo: 8_192) { bytes in
        let form = FormFields(String(decoding: bytes, as: UTF8.self))
        for name in names {
            guard let value = form[name] else { continue }
            precondition(form.has(name) && !value.isEmpty && !value.utf8.contains(0))
        }
    }

    /// One text as the value of each header field that has no target of its own.
    static let fields = FuzzTarget("fields", upTo: 1_024) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let field = text.utf8.span
        // Authorization: spaces around a token are not part of it.
        if let token = field.bearerToken, !token.isEmpty {
            let again = "bearer " + String(decoding: Array(text.utf8)[token], as: UTF8.self)
            precondition(again.utf8.span.bearerToken == 7..<7 + token.count)
            _ = try? APIKey(String(again.dropFirst(7)))
        }
        // Content-Type: a body has one type.
        precondition(!field.isMediaType("application/json") || !field.isMediaType("text/csv"))
        // If-None-Match, If-Match: tags that are equal are also weakly equal.
        precondition(!field.hasEntityTag(tag, weakly: false) || field.hasEntityTag(tag))
        // Prefer
        _ = field.prefersRepresentation
        // X-Request-ID: it goes into logs.
        precondition(!field.isRequestID || text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        // Host
        precondition(Authority.host(of: text) != "")
        // X-Forwarded-For: with any value, there is an address, at least the proxy's.
        precondition(proxies.address(behind: proxy, forwardedFor: text) != nil)
        // Idempotency-Key
        _ = IdempotencyKey(text, for: [:], of: tenant)
        // The console's cookie.
        _ = ConsoleSecret(text)
        // Values of the query: a page's cursor, a day.
        if let name = PageCursor.name(in: text) { precondition(PageCursor.text(of: name) == text) }
        _ = Date(rfc3339: text)
    }

    private static let names = ["url", "limit", "after"]
    private static let digits = Array("0123456789aBcDeF".utf8)
    private static let tag = "\"0123456789abcdef\""
    private static let proxies = TrustedProxies(["10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) })
    private static let proxy = IPAddress("10.0.0.1")
    private static let tenant = TenantID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
}
