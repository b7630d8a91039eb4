import Foundation
import Glibc

/// The service manager that started the process, if it wants to be told. (sd_notify(3))
public enum ServiceManager {
    /// Tells that the process is ready; does nothing unless `NOTIFY_SOCKET` names a socket, as systemd does for `Type=notify`.
    public static func tellReady() {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
        send("READY=1", to: path)
    }

    /// - Parameter path: An absolute path, or a name of Linux' abstract namespace that begins with `@`.
    static func send(_ message: String, to path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard let first = name.first, name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return
        }
        if first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Without the NUL at the end, which would be a part of an abstract name.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
