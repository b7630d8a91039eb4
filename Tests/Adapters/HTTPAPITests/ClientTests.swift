import Formats
import NIOCore
import Testing

@testable import HTTPAPI

@Suite struct ClientTests {
    @Test func clientIsOneIPv4AddressOrOneIPv6Prefix64() throws {
        func client(_ text: String) -> Client.Address { Client.Address(IPAddress(text)) }
        #expect(client("192.0.2.1") != client("192.0.2.2"))
        #expect(client("192.0.2.1") == client("::ffff:192.0.2.1"))
        #expect(client("2001:db8:0:1::1") == client("2001:db8:0:1:ffff:ffff:ffff:ffff"))
        #expect(client("2001:db8:0:1::1") != client("2001:db8:0:2::1"))
        #expect(client("::1") != client("192.0.2.1"))
    }

    @Test(arguments: [
        (nil, "10.0.0.1"), ("", "10.0.0.1"), ("203.0.113.7", "203.0.113.7"),
        // Addresses that a client invents precede the addresses that the proxy adds.
        ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1,203.0.113.7,10.0.0.2", "203.0.113.7"),
        ("203.0.113.7 ,\t10.0.0.2 , 10.0.0.3", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"), ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        // If all addresses are proxies, the client is the first one.
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        // An unreadable entry ends the search. The client is then the last known proxy.
        ("203.0.113.7, unknown, 10.0.0.2", "10.0.0.2"), ("unknown", "10.0.0.1"), ("_hidden", "10.0.0.1"),
    ])
    func clientAddressIsFoundBehindTrustedProxies(_ field: String?, _ client: String) throws {
        let range = try #require(AddressRange("10.0.0.0/8"))
        let found = TrustedProxies([range]).client(
            behind: IPAddress("10.0.0.1"), forwardedFor: field)
        #expect(found.address == Client.Address(IPAddress(client)))
        #expect(found.isBehindProxy)
    }
}
