import Formats
import NIOCore
import NIOHTTP1

/// The head of a request of HTTP/1.1 or 1.0, with the properties of its connection.
struct HTTP1RequestHead {
    let request: ServerRequest
    /// Whether the client waits for `100 Continue` (RFC 9110 §10.1.1).
    let expectsContinue: Bool
    /// Whether another request may follow on the connection.
    let isKeepAlive: Bool
    /// Whether the response must confirm that the connection stays open, as in HTTP/1.0 (RFC 9112 §9.3).
    let confirmsKeepAlive: Bool
    let defect: RequestDefect?

    init(_ head: HTTPRequestHead, from peer: IPAddress?) {
        let isHTTP10 = head.version == .http1_0
        var host: String?
        var hosts = 0
        var expectsContinue = false
        // After CONNECT or `Upgrade`, the library's decoder reads no further request, whatever the response is.
        var changesProtocol = head.method == .CONNECT
        var hasTransferCoding = false
        var (hasOtherCoding, endsWithChunked) = (false, false)
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where name.isEqualIgnoringCase(to: "host"): (host, hosts) = (value, hosts + 1)
            case 6 where name.isEqualIgnoringCase(to: "expect"):
                expectsContinue = value.isEqualIgnoringCase(to: "100-continue")
            case 7 where name.isEqualIgnoringCase(to: "upgrade"): changesProtocol = true
            case 17 where name.isEqualIgnoringCase(to: "transfer-encoding"):
                hasTransferCoding = true
                let codings = value.utf8.span
                codings.forEachPart(separatedBy: UInt8(ascii: ",")) { coding in
                    endsWithChunked = codings.extracting(coding).isEqualIgnoringCase(to: "chunked")
                    hasOtherCoding = hasOtherCoding || !endsWithChunked
                    return true
                }
            default: break
            }
        }
        // HTTP/1.0 has no transfer codings, so that a proxy may find the end of the request elsewhere (RFC 9112 §6.1).
        isKeepAlive = head.isKeepAlive && !changesProtocol && !(isHTTP10 && hasTransferCoding)
        confirmsKeepAlive = isHTTP10 && isKeepAlive
        // RFC 9110 §10.1.1: HTTP/1.0 has no status 100. A client would read it as the final response.
        self.expectsContinue = expectsContinue && !isHTTP10
        // RFC 9112 §3.2: exactly one `Host`. HTTP/1.0 does not require it.
        let namesHost = hosts == 1 || hosts == 0 && isHTTP10
        defect =
            !namesHost || Self.contradicts(host, target: head.uri)
            // If `chunked` is not the last coding, the decoder refuses the request, because the body has no known end
            // (RFC 9112 §6.3).
            ? .host : hasOtherCoding && endsWithChunked ? .transferCoding : nil
        request = ServerRequest(
            method: head.method.rawValue, target: head.uri, authority: host, peer: peer, .http1(head.headers))
    }

    /// Whether a target in absolute form has another authority than `Host` (RFC 9112 §3.2.2).
    private static func contradicts(_ host: String?, target: String) -> Bool {
        // The other forms of targets have no scheme (RFC 9112 §3.2).
        guard let host, target.utf8.first != UInt8(ascii: "/"), let scheme = target.firstRange(of: "://")
        else { return false }
        let authority = target[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let isSecure = target[..<scheme.lowerBound].lowercased() == "https"
        return !Authority.isSame(String(authority), host, defaultPort: isSecure ? 443 : 80)
    }
}

extension String {
    /// - Parameter text: lower-case ASCII.
    func isEqualIgnoringCase(to text: StaticString) -> Bool {
        utf8.span.isEqualIgnoringCase(to: text)
    }
}
