import Testing

@testable import Formats

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.7", "10.0.0.7", true),
        ("10.0.0.7", "10.0.0.6", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("::/0", "2001:db8::1", true), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ("::1", "::1", true), ("::1", "::2", false),
        // A dual-stack socket shows clients of IPv4 like this.
        ("192.0.2.0/24", "::ffff:192.0.2.9", true), ("::ffff:192.0.2.0/120", "192.0.2.9", true),
    ])
    func rangeContainsOnlyItsAddresses(_ range: String, _ address: String, _ isContained: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try #require(AddressRange(range)).contains(address) == isContained)
    }

    @Test(arguments: [
        ("198.51.100.77", "198.51.100.77", "198.51.100.0/24"), ("0.0.0.0", "0.0.0.0", "0.0.0.0/24"),
        ("::ffff:198.51.100.77", "198.51.100.77", "198.51.100.0/24"),
        ("2001:DB8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::1", "::1", "::/64"),
        (
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "ffff:ffff:ffff:ffff::/64"
        ),
    ])
    func addressAndNetworkAreWritten(_ text: String, _ address: String, _ network: String) throws {
        let parsed = try #require(IPAddress(text))
        #expect(parsed.description == address && parsed.network == network)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.1/8", "::1/64",
        "example.com", "10.0.0",
        "10.0.0.0/8/8", "::/129", " 10.0.0.0/8", "10.0.0.0/8 ",
    ])
    func malformedRangeIsRejected(_ text: String) {
        #expect(AddressRange(text) == nil)
    }

    /// Both ends of each range that IANA's registries list as not globally reachable, and the addresses beside the range.
    @Test(arguments: [
        ("0.0.0.0", false), ("0.255.255.255", false), ("1.0.0.0", true), ("9.255.255.255", true),
        ("10.0.0.0", false), ("10.255.255.255", false), ("11.0.0.0", true), ("100.63.255.255", true),
        ("100.64.0.0", false), ("100.127.255.255", false), ("100.128.0.0", true), ("126.255.255.255", true),
        ("127.0.0.1", false), ("127.255.255.255", false), ("128.0.0.0", true), ("169.253.255.255", true),
        ("169.254.169.254", false), ("169.255.0.0", true), ("172.15.255.255", true), ("172.16.0.0", false),
        ("172.31.255.255", false), ("172.32.0.0", true), ("192.0.0.8", false), ("192.0.1.0", true),
        ("192.0.2.1", false), ("192.88.99.1", false), ("192.167.255.255", true), ("192.168.0.1", false),
        ("192.169.0.0", true), ("198.17.255.255", true), ("198.18.0.0", false), ("198.19.255.255", false),
        ("198.20.0.0", true), ("198.51.100.7", false), ("203.0.113.7", false), ("203.0.114.0", true),
        ("223.255.255.255", true), ("224.0.0.1", false), ("239.255.255.255", false), ("240.0.0.0", false),
        ("255.255.255.255", false), ("93.184.215.14", true),
        ("::", false), ("::1", false), ("::127.0.0.1", false), ("::ffff:10.0.0.1", false),
        ("::ffff:93.184.215.14", true), ("64:ff9b::7f00:1", false), ("64:ff9b::a9fe:a9fe", false),
        ("64:ff9b::5db8:d70e", true), ("64:ff9b:1::5db8:d70e", false), ("100::1", false),
        ("2001::1", false), ("2001:1ff:ffff::1", false), ("2001:200::1", true), ("2001:db8::1", false),
        ("2002:7f00:1::1", false), ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", true), ("3fff::1", false),
        ("3ffe::1", true), ("4000::1", false), ("5f00::1", false), ("fc00::1", false), ("fd00::1", false),
        ("fe80::1", false), ("fec0::1", false), ("ff02::1", false),
    ])
    func addressIsPublicOutsideSpecialRanges(_ address: String, _ isPublic: Bool) throws {
        #expect(try #require(IPAddress(address)).isPublic == isPublic)
    }

    /// Some programs accept these texts as addresses.
    @Test(arguments: ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "[::1]", "fe80::1%lo", "::1 ", "", "a"])
    func malformedAddressIsRejected(_ text: String) {
        #expect(IPAddress(text) == nil)
    }
}
