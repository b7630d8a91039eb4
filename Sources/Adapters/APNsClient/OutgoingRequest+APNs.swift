import APNsPayload
import Formats
import Foundation
import NIOCore
import NIOHPACK
import Notifications
import Tenancy

extension OutgoingRequest {
    /// A notification or a broadcast.
    ///
    /// Sources: "Sending notification requests to APNs", "Sending broadcast push notification requests to APNs". [Apple]
    init(_ request: PushRequest, authority: String) {
        switch request.destination {
        case .device(let token):
            self.init(
                method: "POST", authority: authority, path: "/3/device/" + token.hex,
                fields: request.headers.fields, body: request.payload)
        case .channel(let id, let bundleID):
            // For broadcasts, the field of the notification's ID has another name.
            let fields =
                [("apns-channel-id", id)]
                + request.headers.broadcastFields.map {
                    ($0.name == "apns-id" ? "apns-request-id" : $0.name, $0.value)
                }
            self.init(
                method: "POST", authority: authority, path: "/4/broadcasts/apps/" + bundleID.text,
                fields: fields, body: request.payload)
        }
    }

    /// Source: "Sending channel management requests to APNs". [Apple]
    init(
        channels method: String, of bundleID: BundleID, path: String = "channels",
        fields: [(name: String, value: String)] = [], body: JSONObject? = nil, authority: String
    ) {
        self.init(
            method: method, authority: authority, path: "/1/apps/\(bundleID.text)/\(path)",
            fields: fields, body: body.map { JSONValue.object($0).serialized() })
    }

    private init(
        method: String, authority: String, path: String, fields: [(name: String, value: String)],
        body: [UInt8]?
    ) {
        var headers = HPACKHeaders()
        headers.reserveCapacity(5 + fields.count)
        headers.add(name: ":method", value: method)
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":authority", value: authority)
        // It is a secret, and never comes again: not for the table that HPACK keeps (RFC 7541 §7.1.3).
        headers.add(name: ":path", value: path, indexing: .neverIndexed)
        for field in fields {
            let recurs = Self.recurring.contains(field.name)
            headers.add(name: field.name, value: field.value, indexing: recurs ? .indexable : .nonIndexable)
        }
        self.init(headers: headers, body: body.map { ByteBuffer(bytes: $0) })
    }

    /// Fields that have few values.
    private static let recurring: Set = ["apns-push-type", "apns-topic", "apns-priority"]
}
