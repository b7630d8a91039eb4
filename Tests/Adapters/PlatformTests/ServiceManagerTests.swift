import Foundation
import Glibc
import Testing

@testable import Platform

@Suite struct ServiceManagerTests {
    /// A service manager's socket, and the messages that it receives.
    @Test func datagramReachesSocket() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("n-\(UUID())").path
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(receiver >= 0)
        defer {
            close(receiver)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
        ServiceManager.send("READY=1", to: path)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(receiver, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        #expect(count == 7 && String(decoding: bytes.prefix(7), as: UTF8.self) == "READY=1")
    }

    @Test(arguments: ["", "/nowhere/socket", String(repeating: "a", count: 200)])
    func unusableSocketIsIgnored(path: String) {
        ServiceManager.send("READY=1", to: path)
    }
}
