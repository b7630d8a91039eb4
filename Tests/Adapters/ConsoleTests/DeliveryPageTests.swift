import Administration
import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Persistence
import Testing

@testable import Console

@Suite struct DeliveryPageTests {
    private static let states: [(state: String, reason: String?)] = [
        ("delivered", nil), ("refused", "TooManyRequests"), ("refused", "TooManyRequests"),
        ("refused", "Unregistered"), ("uncertain", nil), ("queued", nil),
    ]

    @Test func deliveriesAreGroupedByStateAndReason() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(
                try await console.get("/t/acme/deliveries", cookie).text.contains(
                    "No deliveries in this period"))
            let (_, deliveries) = try await console.addDeliveries(Self.states, of: console.acme)
            let (_, otherDeliveries) = try await console.addDeliveries(Self.states, of: console.other)
            let page = try await console.get("/t/acme/deliveries", cookie).text
            for delivery in deliveries { #expect(page.contains(delivery.uuidString.lowercased())) }
            for delivery in otherDeliveries { #expect(!page.contains(delivery.uuidString.lowercased())) }
            #expect(page.contains("state=refused&amp;reason=TooManyRequests&amp;days=7"))
            let some = try await console.get("/t/acme/deliveries?state=refused&reason=Unregistered", cookie)
                .text
            #expect(some.contains(deliveries[3].uuidString.lowercased()))
            // Deliveries with a dead token cannot be retried.
            #expect(!some.contains("Retry these deliveries"))
            let others = try await console.get("/t/acme/deliveries?state=refused", cookie).text
            #expect(others.contains("Retry these deliveries"))
            #expect(!some.contains(deliveries[1].uuidString.lowercased()))
            let before = deliveries[3].uuidString.lowercased()
            let rest = try await console.get("/t/acme/deliveries?before=\(before)", cookie).text
            #expect(rest.contains(deliveries[2].uuidString.lowercased()))
            #expect(!rest.contains(deliveries[4].uuidString.lowercased()))
            #expect(try await console.get("/t/acme/deliveries?before=x", cookie).status == .badRequest)
        }
    }

    @Test func notificationIsCancelled() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let (notification, deliveries) = try await console.addDeliveries(Self.states, of: console.acme)
            let path = "/t/acme/deliveries/\(notification.uuidString.lowercased())"
            let reader = try await console.signIn(isReadOnly: true)
            #expect(try await console.post("\(path)/cancel", [:], reader).status == .forbidden)
            #expect(try await !console.get(path, reader).text.contains("Cancel the queued deliveries"))
            let other = "/t/other/deliveries/\(notification.uuidString.lowercased())/cancel"
            #expect(try await console.post(other, [:], cookie).status == .notFound)
            #expect(try await console.get(path, cookie).text.contains("Cancel the queued deliveries"))

            let cancelled = try await console.post("\(path)/cancel", [:], cookie)
            #expect(cancelled.status == .seeOther)
            let page = try await console.get(try #require(cancelled.headers[.location]), cookie).text
            #expect(page.contains("Queued deliveries are not sent.") && page.contains("<dt>Cancelled</dt>"))
            #expect(!page.contains("Cancel the queued deliveries"))
            #expect(deliveries.count > 1 && page.contains("cancelled"))
        }
    }

    @Test func deliveryIsTracedAndRetried() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let (notification, deliveries) = try await console.addDeliveries(Self.states, of: console.acme)
            let path = "/t/acme/deliveries/\(deliveries[2].uuidString.lowercased())"
            let page = try await console.get(path, cookie).text
            #expect(page.contains("TooManyRequests") && page.contains(notification.uuidString.lowercased()))
            #expect(page.contains("&lt;b&gt;Ready") && !page.contains("<b>Ready"))
            let whole = try await console.get(
                "/t/acme/deliveries/\(notification.uuidString.lowercased())", cookie
            ).text
            for delivery in deliveries { #expect(whole.contains(delivery.uuidString.lowercased())) }
            // The deliveries of another tenant are not found.
            for id in [notification, deliveries[2]] {
                let response = try await console.get(
                    "/t/other/deliveries/\(id.uuidString.lowercased())", cookie)
                #expect(response.status == .notFound)
            }

            let reader = try await console.signIn(isReadOnly: true)
            #expect(try await console.post("\(path)/retry", [:], reader).status == .forbidden)
            #expect(try await console.get(path, cookie).text.contains("refused"))
            let again = try await console.post("\(path)/retry", [:], cookie)
            #expect(again.status == .seeOther && again.headers[.location] == "\(path)?retried=queued")
            #expect(try await console.get("\(path)?retried=queued", cookie).text.contains("Queued again."))
            let twice = try await console.post("\(path)/retry", [:], cookie)
            #expect(twice.headers[.location] == "\(path)?retried=none")
        }
    }

    /// A retry would replace APNs' reason by `token_dead`.
    @Test func deliveryWithDeadTokenIsNotOfferedForRetry() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let (_, deliveries) = try await console.addDeliveries(Self.states, of: console.acme)
            let path = "/t/acme/deliveries/\(deliveries[3].uuidString.lowercased())"
            let page = try await console.get(path, cookie).text
            #expect(page.contains("Unregistered") && !page.contains("Retry</button>"))
            #expect(!page.contains("delivery retry"))
            let response = try await console.post("\(path)/retry", [:], cookie)
            #expect(response.headers[.location] == "\(path)?retried=dead")
            let after = try await console.get("\(path)?retried=dead", cookie).text
            #expect(after.contains("its token as dead") && after.contains("Unregistered"))
            let review = try await console.get("/t/acme/retry?state=refused", cookie).text
            #expect(review.contains("Retry 2"))
        }
    }

    @Test func onlyReviewedDeliveriesAreRetried() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.addDeliveries(Self.states, of: console.acme)
            let review = try await console.get("/t/acme/retry?state=refused&reason=TooManyRequests", cookie)
                .text
            #expect(review.contains("Retry 2"))
            let since = try #require(review.firstMatch(of: /name="since" value="([^"]+)"/)).1
            var form = [
                "state": "refused", "reason": "TooManyRequests", "days": "7", "count": "2",
                "since": String(since),
            ]

            let reader = try await console.signIn(isReadOnly: true)
            #expect(try await console.post("/t/acme/retry", form, reader).status == .forbidden)
            let seen = try await console.get("/t/acme/retry?state=refused&reason=TooManyRequests", reader)
                .text
            #expect(seen.contains("<dd>2</dd>") && !seen.contains("Retry 2"))
            form["count"] = "3"
            let other = try await console.post("/t/acme/retry", form, cookie)
            #expect(other.status == .conflict && other.text.contains("None was retried"))
            for count in ["0", "1001", "x"] {
                form["count"] = count
                #expect(try await console.post("/t/acme/retry", form, cookie).status == .badRequest)
            }
            form["count"] = "2"
            let done = try await console.post("/t/acme/retry", form, cookie)
            #expect(
                done.status == .seeOther
                    && done.headers[.location]
                        == "/t/acme/deliveries?state=refused&reason=TooManyRequests&days=7&queued=2"
            )
            #expect(
                try await console.get("/t/acme/deliveries?state=queued", cookie).text.contains(
                    "TooManyRequests"))
            #expect(try await console.get("/t/acme/retry?state=delivered", cookie).status == .badRequest)
            // The audit log names the person once. Retries without an effect are not in it.
            let entries = try await console.store.auditLog.page(
                of: console.acme.id, before: nil, limit: 10, where: ["relation": "deliveries"]
            ).entries
            #expect(entries.map(\.actor) == ["console:ada"] && entries.first?.after?["count"] == 2)
            #expect(entries.first?.before?["reason"] == "TooManyRequests")
            #expect(try await console.get("/t/acme/audit", cookie).text.contains("update deliveries"))
        }
    }

    /// An expired delivery is not sent, because it would arrive too late.
    @Test func expiredDeliveryIsNotRetried() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let (_, late) = try await console.addDeliveries(
                [("refused", "TooManyRequests")], of: console.acme,
                goodUntil: Date().addingTimeInterval(-60))
            #expect(
                try await console.get("/t/acme/retry?state=refused&days=30", cookie).text.contains(
                    "<dt>Deliveries to retry</dt><dd>0</dd>"))
            let path = "/t/acme/deliveries/\(late[0].uuidString.lowercased())"
            let response = try await console.post("\(path)/retry", [:], cookie)
            #expect(response.headers[.location] == "\(path)?retried=late")
        }
    }
}
