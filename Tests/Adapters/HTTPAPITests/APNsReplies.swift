import Foundation
import NIOHPACK

@testable import APNsClient

/// Readers of APNs' replies. They are in a separate file because the HTTP library has a type `Response`, too.
enum APNsReplies {
    private static let token = ProviderToken(
        keyID: "ABC123DEFG", authorization: "bearer token", issuedAt: Date(), issuedUptime: .now,
        renewalAge: 3_000)

    static let subjects: [LinearWorkTests.Subject] = [
        LinearWorkTests.Subject("a reply of APNs") { count in
            let body = Array((#"{"reason":""# + LinearWorkTests.repeated("a", count) + #""}"#).utf8)
            let response = Response(status: 400, headers: [:], body: body, connection: 1, token: token)
            return { _ = response.response(now: Date()) }
        },
        LinearWorkTests.Subject("members of a reply of APNs", upTo: 22) { count in
            let members = LinearWorkTests.names(count).map { "\"\($0)\":1" }.joined(separator: ",")
            let response = Response(
                status: 400, headers: [:], body: Array("{\(members)}".utf8), connection: 1, token: token)
            return { _ = response.response(now: Date()) }
        },
        LinearWorkTests.Subject("why APNs leaves a connection") { count in
            let reason = LinearWorkTests.repeated("\u{1B}[2J", count)
            return { _ = APNsConnection.loggable(reason) }
        },
    ]
}
