import ArgumentParser
import Formats
import Foundation
import OutboundHTTP

/// The allowed addresses of servers that tenants name, and trusted certificates.
struct OutboundOptions: ParsableArguments {
    @Option(Settings.authorities) var file: String?
    @Option(Settings.outboundAllow) var allowed: [[AddressRange]] = []

    func settings() throws -> OutboundClient.Settings {
        let file = try Settings.authorities.value(file)
        if let file, !FileManager.default.isReadableFile(atPath: file) {
            throw CommandError.unreadableFile(file)
        }
        return OutboundClient.Settings(
            authorities: file,
            allowed: try Settings.outboundAllow.value(allowed.isEmpty ? nil : allowed.flatMap(\.self)))
    }
}
