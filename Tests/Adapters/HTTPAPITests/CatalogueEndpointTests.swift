import Administration
import AppAttest
import Cards
import Formats
import Foundation
import HTTPTypes
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct CatalogueEndpointTests {
    /// If items are long, the server reads one more part than it returns, at most.
    @Test func pageReadsLittleMoreThanItReturns() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let long = String(repeating: "x", count: 30_000)
            let lines = (0..<400).map {
                #"{"identifier": "l\#(1_000 + $0)", "name": "L", "latitude": 1, "longitude": 1, "radius": 1, "#
                    + #""metadata": {"m": "\#(long)"}}"# + "\n"
            }.joined()
            let written = try await CollectionEndpointTests.send(
                .put, "/v1/locations", lines, as: CollectionEndpointTests.jsonLines, client)
            #expect(written["added"] == 400, "\(written.text)")
            var seen: [String] = []
            var next: String? = ""
            while let after = next {
                let before = api.locations.given
                let page = try await client.send(
                    .get, "/v1/locations?limit=1000\(after.isEmpty ? "" : "&after=\(after)")",
                    key: api.reader)
                #expect(api.locations.given - before <= APIResponse.partLength + 1)
                seen += (page["data"]?.arrayValue ?? []).compactMap {
                    $0.objectValue?["identifier"]?.stringValue
                }
                next = page["next"]?.stringValue
            }
            #expect(seen == (0..<400).map { "l\(1_000 + $0)" })
        }
    }

    @Test(arguments: [
        "application/json", "application/merge-patch+json", "application/json; charset=us-ascii",
    ])
    func patchAcceptsJSONAsAMergePatch(type: String) async throws {
        let api = TestAPI()
        try await api.test { client in
            let body = #"{"name": "N", "latitude": 1, "longitude": 1, "radius": 1}"#
            _ = try await client.send(
                .put, "/v1/locations/a", key: api.manager, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: body))
            let patched = try await client.send(
                .patch, "/v1/locations/a", key: api.manager, headers: [.contentType: type],
                body: ByteBuffer(string: #"{"name": "M"}"#))
            #expect(patched.status == 200 && patched["name"] == "M", "\(patched.text)")
        }
    }

    /// `deploy/bench/writers` does the same with PostgreSQL and more writers.
    @Test(.timeLimit(.minutes(30))) func conditionalUpdatesAreNotLost() async throws {
        let api = TestAPI()
        let (writers, rounds) = (10, 4)
        try await api.test(over: [.task]) { client in
            @Sendable func count(_ response: TestAPI.APIResponse) -> Int {
                Int(response["metadata"]?.objectValue?["count"]?.stringValue ?? "") ?? 0
            }
            let paths = ["/v1/locations/a", "/v1/locations/b"]
            for path in paths {
                let body = #"{"name": "N", "latitude": 1, "longitude": 1, "radius": 1}"#
                let made = try await client.send(
                    .put, path, key: api.manager, headers: [.contentType: "application/json"],
                    body: ByteBuffer(string: body))
                #expect(made.status == 201, "\(made.text)")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    let path = paths[writer % paths.count]
                    group.addTask {
                        var done = 0
                        while done < rounds {
                            let read = try await client.send(.get, path, key: api.reader)
                            let change = #"{"metadata": {"count": "\#(count(read) + 1)"}}"#
                            let written = try await client.send(
                                .patch, path, key: api.manager,
                                headers: [
                                    .contentType: "application/merge-patch+json",
                                    .ifMatch: try #require(read.headers[.eTag]),
                                ], body: ByteBuffer(string: change))
                            try #require([200, 412].contains(written.status), "\(written.text)")
                            if written.status == 200 { done += 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            var total = 0
            for path in paths { total += count(try await client.send(.get, path, key: api.reader)) }
            #expect(total == writers * rounds)
        }
    }

    /// A page that is read in several parts is complete.
    @Test func largePageIsAssembledFromParts() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let csv = "code,url\n" + (1_000..<1_350).map { "\($0),https://example.com/x\n" }.joined()
            _ = try await CollectionEndpointTests.send(.put, "/v1/short-codes", csv, client)
            for (limit, hasMore) in [(349, true), (350, false), (351, false), (100, true), (200, true)] {
                let page = try await client.send(.get, "/v1/short-codes?limit=\(limit)", key: api.reader)
                #expect(page["data"]?.arrayValue?.count == min(limit, 350))
                #expect((page["next"] != .null) == hasMore, "\(limit)")
            }
        }
    }

    /// The operations whose tenant isolation this suite tests.
    static let operations = Set(
        [
            ("Location", "Locations"), ("Clip", "Clips"), ("Experience", "Experiences"),
            ("ShortCode", "ShortCodes"),
        ].flatMap { one, many in
            ["get\(one)", "put\(one)", "patch\(one)", "delete\(one)", "list\(many)"]
        } + ["createExperience"])

    /// An item of each kind: its path, the body of a PUT, and the response.
    struct Sample: Sendable, CustomTestStringConvertible {
        let path: String
        let body: JSONValue
        let response: String
        let patch: JSONValue
        let patched: String
        var testDescription: String { path }

        var collection: String { String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) }
    }

    static let experience = "exp_YWV4YW1wbGUuY29tL2E"

    static let samples = [
        Sample(
            path: "/v1/locations/caf%C3%A9%2F1",
            body: ["name": "Caf\u{e9}", "latitude": 1.5, "longitude": -2, "radius": 100],
            response: """
                {"identifier":"caf\u{e9}/1","latitude":1.5,"longitude":-2,"metadata":{},"name":"Caf\u{e9}","radius":100}
                """, patch: ["radius": 50, "metadata": ["a": "b", "c": .null]],
            patched: """
                {"identifier":"caf\u{e9}/1","latitude":1.5,"longitude":-2,"metadata":{"a":"b"},"name":"Caf\u{e9}","radius":50}
                """),
        Sample(
            path: "/v1/clips/com.example.New.Clip", body: ["teamID": "ABCDE12345"],
            response: """
                {"appIDPrefix":"ABCDE12345","bundleID":"com.example.New.Clip","multiBusiness":false,\
                "parentBundleID":"com.example.New","teamID":"ABCDE12345"}
                """, patch: ["teamID": "ZYXWV98765"],
            patched: """
                {"appIDPrefix":"ZYXWV98765","bundleID":"com.example.New.Clip","multiBusiness":false,\
                "parentBundleID":"com.example.New","teamID":"ZYXWV98765"}
                """),
        Sample(
            path: "/v1/experiences/\(experience)",
            body: ["clip": "com.example.MyApp.Clip", "location": "restaurant_a", "title": .null],
            response: """
                {"clip":"com.example.MyApp.Clip","id":"\(experience)","identifierRule":null,"kind":"advanced",\
                "location":"restaurant_a","subtitle":null,"title":null,"url":"https://example.com/a"}
                """, patch: ["location": .null, "identifierRule": "path:1", "title": "T"],
            patched: """
                {"clip":"com.example.MyApp.Clip","id":"\(experience)","identifierRule":"path:1","kind":"advanced",\
                "location":null,"subtitle":null,"title":"T","url":"https://example.com/a"}
                """),
        Sample(
            path: "/v1/short-codes/lunch", body: ["url": "https://Example.com/a/"],
            response: #"{"code":"lunch","url":"https://example.com/a"}"#,
            patch: ["url": "https://example.com/b"],
            patched: #"{"code":"lunch","url":"https://example.com/b"}"#),
    ]

    /// A discouraged change needs `force`. Only changes of clips can be discouraged.
    @Test func unmonitoredRequirementNeedsForce() async throws {
        let api = TestAPI()
        let path = "/v1/clips/com.example.New.Clip"
        try await api.test(over: [.task]) { client in
            for (method, body) in [
                (.put, ["teamID": "ABCDE12345", "attestation": ["confirm": "require"]]),
                (.patch, ["attestation": ["confirm": "require_signed"]]),
            ] as [(HTTPRequest.Method, JSONValue)] {
                api.clips.doubt(AdministrationError.monitoredTooLittle(.confirm, seen: 7))
                let doubted = try await Self.write(method, path, body, client)
                #expect(doubted.status == 409 && doubted.code == "monitored_too_little", "\(doubted.text)")
                #expect(
                    doubted["operation"] == "confirm" && doubted["seen"] == 7 && doubted["required"] == 100)
                let no = try await Self.write(method, path + "?unmonitored=false", body, client)
                #expect(no.status == 409)
                for query in ["?unmonitored=yes", "?unmonitored=true&unmonitored=true", "?yes=true"] {
                    #expect(
                        try await Self.write(method, path + query, body, client).status == 400, "\(query)")
                }
                let done = try await Self.write(method, path + "?unmonitored=true", body, client)
                #expect(done.status == (method == .put ? 201 : 200), "\(done.text)")
                api.clips.doubt(nil)
            }
            let other = try await Self.write(
                .put, "/v1/locations/a?unmonitored=true",
                ["name": "A", "latitude": 1, "longitude": 1, "radius": 1], client)
            #expect(other.status == 400 && other.code == "unknown_parameter", "\(other.text)")
        }
    }

    /// A PUT without an attestation policy keeps the policy.
    @Test func attestationPolicyStaysUntilSetToNull() async throws {
        let api = TestAPI()
        let path = "/v1/clips/com.example.New.Clip"
        try await api.test(over: [.task]) { client in
            let policy: JSONValue = ["confirm": "require"]
            let made = try await Self.write(
                .put, path, ["teamID": "ABCDE12345", "attestation": policy], client)
            #expect(made.status == 201)
            let kept = try #require(made["attestation"])
            let again = try await Self.write(.put, path, ["teamID": "ZYXWV98765"], client)
            #expect(again.status == 200 && again["attestation"] == kept && again["teamID"] == "ZYXWV98765")
            let taken = try await Self.write(
                .put, path, ["teamID": "ZYXWV98765", "attestation": .null], client)
            #expect(taken.status == 200 && taken["attestation"] == nil, "\(taken.text)")
        }
    }

    /// The parent's bundle ID is derived if it is missing, and derived again if null clears it.
    @Test func parentBundleIDIsNamedAndCleared() async throws {
        let api = TestAPI()
        let path = "/v1/clips/com.solo.App.my.Clip"
        try await api.test(over: [.task]) { client in
            let steps: [(HTTPRequest.Method, JSONValue, String)] = [
                (.put, ["teamID": "ABCDE12345", "parentBundleID": "com.solo.App"], "com.solo.App"),
                (.patch, ["teamID": "ZYXWV98765"], "com.solo.App"),
                (.patch, ["parentBundleID": .null], "com.solo.App.my"),
                (.patch, ["parentBundleID": "com.solo"], "com.solo"),
                (.put, ["teamID": "ZYXWV98765"], "com.solo.App.my"),
            ]
            for (method, body, parent) in steps {
                let written = try await Self.write(method, path, body, client)
                #expect(written["parentBundleID"] == .string(parent), "\(body): \(written.text)")
            }
            for (parent, reason) in [
                ("com.other.App", "does not begin with 'com.other.App.'"), ("x", "bundle ID"),
            ] {
                let refused = try await Self.write(.patch, path, ["parentBundleID": .string(parent)], client)
                #expect(refused.status == 400 && refused["field"] == "parentBundleID", "\(refused.text)")
                #expect(refused.text.contains(reason), "\(refused.text)")
            }
        }
    }

    /// If null removes the last member of an object, the object is removed, too (RFC 7396 §2).
    @Test func nullRemovesTheLastMemberOfAnObject() async throws {
        let api = TestAPI()
        let path = "/v1/locations/a"
        let address: JSONValue = ["fullAddress": "Pier 3"]
        let place: JSONValue = [
            "names": ["A"], "mainAddress": address, "phoneNumber": ["number": "+1 555"],
            "displayPoint": ["coordinates": ["latitude": 1, "longitude": 2]],
        ]
        try await api.test(over: [.task]) { client in
            let created = try await Self.write(
                .put, path,
                ["name": "A", "latitude": 1, "longitude": 2, "radius": 10, "card": ["place": place]], client)
            #expect(created.status == 201, "\(created.text)")
            let patches: [JSONValue] = [
                ["mainAddress": ["fullAddress": .null]], ["phoneNumber": ["number": .null]],
                ["displayPoint": ["coordinates": ["latitude": .null, "longitude": .null], "source": .null]],
                ["mainAddress": ["structuredAddress": ["floor": .null]]],
            ]
            for patch in patches {
                let patched = try await Self.write(.patch, path, ["card": ["place": patch]], client)
                #expect(patched.status == 200, "\(patched.text)")
            }
            let read = try await client.send(.get, path, key: api.reader)
            #expect(read["card"] == ["place": ["names": ["A"]]], "\(read.text)")
            let last = try await Self.write(.patch, path, ["card": ["place": ["names": .null]]], client)
            #expect(last.status == 200 && last["card"] == nil, "\(last.text)")
        }
    }

    static func write(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue, _ client: TestAPI.Client,
        key: APIKey? = nil, headers: HTTPFields = [:]
    ) async throws -> TestAPI.APIResponse {
        var headers = headers
        headers[.contentType] = method == .patch ? "application/merge-patch+json" : "application/json"
        return try await client.send(
            method, path, key: key ?? client.api.manager, headers: headers,
            body: ByteBuffer(bytes: body.serialized()))
    }

    // MARK: Single items

    @Test(arguments: samples) func itemIsCreatedReadChangedAndDeleted(sample: Sample) async throws {
        let api = TestAPI()
        try await api.test(over: [.connection]) { client in
            let created = try await Self.write(.put, sample.path, sample.body, client)
            #expect(created.status == 201 && created.text == sample.response, "\(created.text)")
            #expect(created.headers[.location] == sample.path)
            let tag = try #require(created.headers[.eTag])
            #expect(created.headers[.cacheControl] == "no-store")

            let again = try await Self.write(.put, sample.path, sample.body, client)
            #expect(again.status == 200 && again.text == sample.response && again.headers[.eTag] == tag)
            // The response can be sent back unchanged.
            let back = try await Self.write(.put, sample.path, try #require(created.json), client)
            #expect(back.status == 200 && back.text == sample.response)

            let read = try await client.send(.get, sample.path, key: api.reader)
            #expect(read.status == 200 && read.text == sample.response && read.headers[.eTag] == tag)
            let known = try await client.send(
                .get, sample.path, key: api.reader, headers: [.ifNoneMatch: "W/\(tag)"])
            #expect(known.status == 304 && known.text.isEmpty && known.headers[.eTag] == tag)

            let patched = try await Self.write(.patch, sample.path, sample.patch, client)
            #expect(patched.status == 200 && patched.text == sample.patched, "\(patched.text)")
            #expect(patched.headers[.eTag] != tag)

            let page = try await client.send(.get, sample.collection, key: api.reader)
            #expect(page.text == #"{"data":[\#(sample.patched)],"next":null}"#)

            let deleted = try await client.send(.delete, sample.path, key: api.manager)
            #expect(deleted.status == 204 && deleted.text.isEmpty)
            for method in [HTTPRequest.Method.get, .delete] {
                let gone = try await client.send(method, sample.path, key: api.manager)
                #expect(gone.status == 404 && gone.code?.hasPrefix("unknown_") == true)
            }
            let gone = try await Self.write(.patch, sample.path, sample.patch, client)
            #expect(gone.status == 404)
        }
        let actors = api.locations.actors + api.clips.actors + api.experiences.actors + api.shortCodes.actors
        #expect(actors == Array(repeating: "key:\(KeyID(UUID(number: 5)))", count: 3))
    }

    @Test(arguments: samples) func itemChangeRequiresMatchingETag(sample: Sample) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            func put(_ headers: HTTPFields) async throws -> Int {
                try await Self.write(.put, sample.path, sample.body, client, headers: headers).status
            }
            #expect(try await put([.ifMatch: "*"]) == 412)
            #expect(try await put([.ifNoneMatch: "*"]) == 201)
            #expect(try await put([.ifNoneMatch: "*"]) == 412)
            let old = try #require(try await client.send(.get, sample.path, key: api.reader).headers[.eTag])
            #expect(try await put([.ifMatch: old]) == 200)
            #expect(try await put([.ifMatch: "W/\(old)"]) == 412)
            #expect(try await put([.ifMatch: "\"0\", \(old)"]) == 200)
            let changed = try await Self.write(
                .patch, sample.path, sample.patch, client, headers: [.ifMatch: old])
            #expect(changed.status == 200)
            let late = try await Self.write(
                .patch, sample.path, sample.patch, client, headers: [.ifMatch: old])
            #expect(late.status == 412 && late.code == "precondition_failed")
            let lateDeletion = try await client.send(
                .delete, sample.path, key: api.manager, headers: [.ifMatch: old])
            #expect(lateDeletion.status == 412)
            let new = try #require(changed.headers[.eTag])
            let deletion = try await client.send(
                .delete, sample.path, key: api.manager, headers: [.ifMatch: new])
            #expect(deletion.status == 204)
        }
    }

    @Test func catalogueEndpointsRequireScope() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for sample in Self.samples {
                for key in [api.publishable, api.secret, api.confirmer, api.reader] {
                    let written = try await Self.write(.put, sample.path, sample.body, client, key: key)
                    let patched = try await Self.write(.patch, sample.path, sample.patch, client, key: key)
                    let deleted = try await client.send(.delete, sample.path, key: key)
                    let read = try await client.send(.get, sample.path, key: key)
                    let listed = try await client.send(.get, sample.collection, key: key)
                    for refused in [written, patched, deleted] { #expect(refused.status == 403) }
                    let isReader = key.text == api.reader.text
                    #expect(read.status == (isReader ? 404 : 403))
                    #expect(listed.status == (isReader ? 200 : 403))
                }
            }
        }
    }

    @Test func invalidFieldIsNamed() async throws {
        let api = TestAPI()
        let good: JSONObject = ["name": "A", "latitude": 1, "longitude": 2, "radius": 3]
        @Sendable func with(_ name: String, _ value: JSONValue?) -> JSONValue {
            var members = good
            members[name] = value
            return .object(members)
        }
        try await api.test(over: [.task]) { client in
            for (body, status, code, field) in [
                (with("radius", nil), 400, "missing_field", "radius"),
                (with("radius", .null), 400, "missing_field", "radius"),
                (with("radius", "3"), 400, "invalid_field", "radius"),
                (with("colour", "red"), 400, "unknown_field", "colour"),
                (with("colour", .null), 400, "unknown_field", "colour"),
                (with("identifier", "b"), 400, "invalid_field", "identifier"),
                (with("radius", 501), 400, "invalid_field", "radius"),
                (with("name", ""), 400, "invalid_field", "name"),
                (with("metadata", ["a": 1]), 400, "invalid_field", "metadata"),
            ] {
                let response = try await Self.write(.put, "/v1/locations/a", body, client)
                #expect(
                    response.status == status && response.code == code && response.field == field,
                    "\(response.text)")
            }
            _ = try await Self.write(.put, "/v1/locations/a", .object(good), client)
            for (patch, status, field) in [
                (["identifier": "b"], 400, "identifier"), (["name": .null], 400, "name"),
                (["latitude": 91], 400, "latitude"), (["x": 1], 400, "x"),
                (["x": .null], 400, "x"),
            ] as [(JSONValue, Int, String)] {
                let response = try await Self.write(.patch, "/v1/locations/a", patch, client)
                #expect(response.status == status && response.field == field, "\(response.text)")
            }
            let patch = try await client.send(
                .put, "/v1/locations/a", key: api.manager,
                headers: [.contentType: "application/merge-patch+json"], body: ByteBuffer(string: "{}"))
            #expect(patch.status == 415)
            for (path, status, field) in [
                ("/v1/locations?limit=0", 400, "limit"), ("/v1/locations?limit=1001", 400, "limit"),
                ("/v1/locations?limit=x", 400, "limit"), ("/v1/locations?name=a", 400, "name"),
                ("/v1/locations?after=%25", 400, "after"), ("/v1/locations?after=AA", 400, "after"),
                ("/v1/experiences?kind=other", 400, "kind"), ("/v1/experiences?url=x", 400, "url"),
                ("/v1/locations/a?limit=1", 400, "limit"),
            ] {
                let response = try await client.send(.get, path, key: api.manager)
                #expect(response.status == status && response.field == field, "\(path): \(response.text)")
            }
            let cascade = try await client.send(.delete, "/v1/locations/a?cascade=1", key: api.manager)
            #expect(cascade.status == 400 && cascade.field == "cascade")
            for path in ["/v1/locations/%00", "/v1/locations/%FF", "/v1/clips/clip", "/v1/experiences/exp_x"]
            {
                let response = try await client.send(.get, path, key: api.manager)
                #expect(response.status == 404 && response.code == "not_found", "\(path)")
            }
        }
    }

    @Test func pagingReturnsEachItemOnceDuringChanges() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            func put(_ code: String) async throws {
                _ = try await Self.write(
                    .put, "/v1/short-codes/\(code)", ["url": "https://example.com/"], client)
            }
            for code in ["b", "d", "f", "h"] { try await put(code) }
            var seen: [String] = []
            var path = "/v1/short-codes?limit=2"
            while true {
                let page = try await client.send(.get, path, key: api.reader)
                seen += try #require(page["data"]?.arrayValue).compactMap {
                    $0.objectValue?["code"]?.stringValue
                }
                guard let next = page["next"]?.stringValue else { break }
                path = "/v1/short-codes?limit=2&after=\(next)"
                // Items that are added or deleted elsewhere do not affect the list: each remaining item is seen once. Even the last
                // seen item may be deleted.
                try await put("a")
                try await put("e")
                _ = try await client.send(.delete, "/v1/short-codes/d", key: api.manager)
            }
            #expect(seen == ["b", "d", "e", "f", "h"])
        }
    }

    @Test func experiencesAreFilteredByTheirMembers() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for (url, location) in [("https://example.com/a", "a"), ("https://example.com/b", "b")] {
                let created = try await client.post(
                    "/v1/experiences", key: api.manager,
                    ["clip": "com.example.MyApp.Clip", "url": .string(url), "location": .string(location)])
                #expect(created.status == 201)
            }
            for (query, count) in [
                ("", 2), ("?location=b", 1), ("?url=https%3A%2F%2FExample.com%2Fb%2F", 1), ("?kind=demo", 0),
                ("?clip=com.example.MyApp.Clip&location=a", 1), ("?clip=com.example.Other.Clip", 0),
            ] {
                let page = try await client.send(.get, "/v1/experiences\(query)", key: api.reader)
                #expect(page["data"]?.arrayValue?.count == count, "\(query)")
            }
        }
    }

    @Test func repeatedCreationSucceedsOnlyIfIdentical() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let body: JSONObject = ["clip": "com.example.MyApp.Clip", "url": "https://example.com/a"]
            let created = try await client.post("/v1/experiences", key: api.manager, .object(body))
            #expect(created.status == 201 && created["id"] == .string(Self.experience))
            #expect(created.headers[.location] == "/v1/experiences/\(Self.experience)")
            let again = try await client.post("/v1/experiences", key: api.manager, .object(body))
            #expect(again.status == 200 && again.text == created.text)
            var other = body
            other["title"] = "T"
            let otherwise = try await client.post("/v1/experiences", key: api.manager, .object(other))
            #expect(otherwise.status == 409 && otherwise.code == "exists")
            #expect(otherwise["id"] == .string(Self.experience))
            other["id"] = "exp_x"
            let misnamed = try await client.post("/v1/experiences", key: api.manager, .object(other))
            #expect(misnamed.status == 400 && misnamed.field == "id")
        }
    }

    /// RFC 7240.
    @Test func deletedRowsAreReturnedIfPreferred() async throws {
        let api = TestAPI()
        let (sample, name) = (Self.samples[0], try #require(HTTPField.Name("Prefer")))
        try await api.test { client in
            for (preference, isTold) in [
                ("return=representation", true), ("respond-async, RETURN=\"representation\"", true),
                ("return=minimal", false), ("return", false), ("", false),
            ] {
                _ = try await Self.write(.put, sample.path, sample.body, client)
                let deleted = try await client.send(
                    .delete, sample.path, key: api.manager, headers: [name: preference])
                #expect(deleted.status == (isTold ? 200 : 204))
                let relation = JSONValue.string(LocationRecord.collection)
                let told: JSONValue = ["rows": [["relation": relation, "rows": 1]], "visible": true]
                #expect(deleted.json == (isTold ? told : nil), "\(preference): \(deleted.text)")
                let applied = deleted.headers[try #require(HTTPField.Name("Preference-Applied"))]
                #expect(applied == (isTold ? "return=representation" : nil))
            }
            _ = try await Self.write(.put, sample.path, sample.body, client)
            api.locations.lagBehind(true)
            let late = try await client.send(
                .delete, sample.path, key: api.manager, headers: [name: "return=representation"])
            #expect(late.status == 202 && late["visible"] == false && late["rows"] != nil)
            api.locations.lagBehind(false)
        }
    }

    private static let forecast = QuotaForecast(
        kind: .locations, unit: .bytes, limit: 10, current: 9, wouldBe: 11)

    @Test func storeErrorsMapToStatusAndCode() async throws {
        let api = TestAPI()
        let sample = Self.samples[0]
        try await api.test(over: [.task]) { client in
            _ = try await Self.write(.put, sample.path, sample.body, client)
            let dependents = Dependents(RowCount(relation: "experiences", count: 4), first: ["a", "b", "c"])
            api.locations.refuse(AdministrationError.inUse("location 'x'", by: [dependents]))
            let inUse = try await client.send(.delete, sample.path, key: api.manager)
            #expect(inUse.status == 409 && inUse.code == "in_use")
            let by: JSONValue = [["relation": "experiences", "rows": 4, "first": ["a", "b", "c"]]]
            #expect(inUse["by"] == by)
            for (error, status, code) in [
                (
                    AdministrationError.unknownImage(try ImageDigest(String(repeating: "0", count: 64))), 404,
                    "unknown_image"
                ),
                (AdministrationError.tenantDeleted, 401, "unauthorized"),
                (StoreUnavailable(), 503, "unavailable"),
                (QuotaExceeded(Self.forecast), 409, "quota_exceeded"),
            ] as [(any Error, Int, String)] {
                api.locations.refuse(error)
                let response = try await Self.write(.patch, sample.path, sample.patch, client)
                #expect(response.status == status && response.code == code)
                guard error is QuotaExceeded else { continue }
                for (name, value) in Self.forecast.json { #expect(response[name] == value) }
            }
            api.locations.refuse(nil)
            api.locations.lagBehind(true)
            let late = try await Self.write(.patch, sample.path, sample.patch, client)
            #expect(late.status == 202 && late.text == #"{"visible":false}"#)
            let lateDeletion = try await client.send(.delete, "\(sample.path)?cascade=true", key: api.manager)
            #expect(lateDeletion.status == 202)
        }
    }
}
