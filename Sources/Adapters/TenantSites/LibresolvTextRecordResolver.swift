public import Administration
import CResolv
import Foundation
import Platform

/// Reads TXT records through the C library's resolver (libresolv), which falls back to TCP and checks that responses match
/// requests.
///
/// The library bounds the wait for datagrams but not for a TCP connection, so that a deadline holds for both.
public struct LibresolvTextRecordResolver: TextRecordResolver {
    private let server: NameServer?
    private let timeout: Duration

    /// - Parameters:
    ///   - server: The name server; nil for those of `/etc/resolv.conf`.
    ///   - timeout: for one lookup.
    public init(server: NameServer? = nil, timeout: Duration = .seconds(10)) {
        self.server = server
        self.timeout = timeout
    }

    public func textRecords(of name: String) async throws(NoResponse) -> [String] {
        let result = await Thread.result(upTo: timeout) { [server] () throws(NoResponse) in
            try LibresolvQuery.textRecords(of: name, server)
        }
        guard let result else {
            throw NoResponse(
                Task.isCancelled ? "the lookup was cancelled" : "the name server did not respond in time")
        }
        return try result.get()
    }
}

/// One question to a name server. (resolver(3))
enum LibresolvQuery {
    /// How long to wait for the first datagram, in seconds; the second one is waited for longer.
    private static let wait: Int32 = 2
    private static let attempts: Int32 = 2
    private static let largestResponse = 65_536

    static func textRecords(of name: String, _ server: NameServer?) throws(NoResponse) -> [String] {
        var state: __res_state = .init()
        guard __res_ninit(&state) == 0 else {
            throw NoResponse("the resolver's configuration cannot be read")
        }
        defer { __res_nclose(&state) }
        state.retrans = wait
        state.retry = attempts
        if let server {
            state.nsaddr_list.0 = server.socketAddress
            state.nscount = 1
        }
        var response = [UInt8](repeating: 0, count: largestResponse)
        let length = res_nquery(
            &state, name, Int32(ns_c_in.rawValue), Int32(ns_t_txt.rawValue), &response, Int32(response.count))
        guard length >= 0 else {
            switch state.res_h_errno {
            case HOST_NOT_FOUND, NO_DATA: return []
            case TRY_AGAIN: throw NoResponse("the name server did not respond, or failed")
            default: throw NoResponse("the name server refused to answer")
            }
        }
        return try texts(response[..<min(Int(length), response.count)])
    }

    /// The texts of a response's TXT records, for any owner name.
    static func texts(_ response: ArraySlice<UInt8>) throws(NoResponse) -> [String] {
        var message = ns_msg()
        var texts: [String] = []
        let isReadable = response.withUnsafeBufferPointer { bytes in
            guard ns_initparse(bytes.baseAddress, Int32(bytes.count), &message) == 0 else { return false }
            for index in 0..<Int32(message._counts.1) {
                var record = ns_rr()
                guard ns_parserr(&message, ns_s_an, index, &record) == 0 else { return false }
                // An alias precedes its target.
                guard UInt32(record.type) == ns_t_txt.rawValue else { continue }
                texts.append(text(UnsafeBufferPointer(start: record.rdata, count: Int(record.rdlength))))
            }
            return true
        }
        guard isReadable else { throw NoResponse("the name server's response cannot be read") }
        return texts
    }

    /// A record's strings, each after its length, as one text. (RFC 1035 §3.3.14, RFC 7208 §3.3)
    private static func text(_ data: UnsafeBufferPointer<UInt8>) -> String {
        var bytes: [UInt8] = []
        var position = 0
        while position < data.count {
            let end = min(position + 1 + Int(data[position]), data.count)
            bytes += data[(position + 1)..<end]
            position = end
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
