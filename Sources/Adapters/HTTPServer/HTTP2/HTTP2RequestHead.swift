import Formats
import NIOHPACK

/// The head of a request of HTTP/2.
struct HTTP2RequestHead {
    let request: ServerRequest
    let expectsContinue: Bool
    let defect: RequestDefect?

    init(_ headers: HPACKHeaders, from peer: IPAddress?) {
        var (method, target, authority) = ("", "", String?.none)
        var host: String?
        var expectsContinue = false
        var isMalformed = false
        for (name, value, _) in headers {
            isMalformed = isMalformed || !value.utf8.span.isFieldValue
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            case "host":
                isMalformed = isMalformed || host != nil
                host = value
            case "expect": expectsContinue = value.isEqualIgnoringCase(to: "100-continue")
            default: break
            }
        }
        self.expectsContinue = expectsContinue
        let namesHost =
            if let host, let authority { Authority.isSame(authority, host, defaultPort: 443) } else {
                host != nil || authority != nil
            }
        defect = isMalformed ? .syntax : namesHost ? nil : .host
        request = ServerRequest(
            method: method, target: target, authority: authority ?? host, peer: peer, .http2(headers))
    }
}

extension Span<UInt8> {
    /// Whether none of the bytes ends a line (RFC 9113 §8.2.1).
    fileprivate var isFieldValue: Bool {
        var isOther: UInt8 = 0
        for index in indices {
            let byte = self[index]
            isOther |= byte == 0 || byte == 10 || byte == 13 ? 1 : 0
        }
        return isOther == 0
    }
}
