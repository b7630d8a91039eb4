import Formats
import HTTPTypes
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// The tests of the command check the content of diagnoses.
@Suite struct DiagnosisEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["diagnose"]

    private static let path = "/v1/diagnosis?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a%23top"

    @Test func diagnosisCoversOnlyTheTenantsOwnData() async throws {
        let api = TestAPI()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: TenantID(number: 9), scopes: "read")
        try await api.test { client in
            let own = try await client.send(.get, Self.path, key: api.reader)
            let expected =
                #"{"checks":[],"ok":true,"url":"https://example.com/restaurants/restaurant_a#top"}"#
            #expect(own.status == 200 && own.text == expected)
            let theirs = try await client.send(.get, Self.path, key: neighbour)
            #expect(theirs.status == 200 && theirs["ok"] == false)
            for key in [api.publishable, api.secret, api.keyManager] {
                #expect(try await client.send(.get, Self.path, key: key).status == 403)
            }
        }
        #expect(api.diagnoses.sitesAsked == 0)
    }

    @Test func invalidParameterIsNamed() async throws {
        let api = TestAPI()
        try await api.test { client in
            for (query, code, field) in [
                ("", "missing_parameter", "url"), ("?live=true", "missing_parameter", "url"),
                ("?url=a&live=yes", "invalid_parameter", "live"),
                ("?url=a&url=b", "invalid_parameter", "url"),
                ("?url=%ff", "invalid_parameter", "url"), ("?url=a&deep=true", "unknown_parameter", "deep"),
            ] {
                let response = try await client.send(.get, "/v1/diagnosis\(query)", key: api.reader)
                #expect(
                    response.status == 400 && response.code == code && response.field == field, "\(query)")
            }
            // An invalid URL is a finding, not an error.
            let nonsense = try await client.send(.get, "/v1/diagnosis?url=nonsense", key: api.reader)
            #expect(nonsense.status == 200 && nonsense["ok"] == false && nonsense["url"] == "nonsense")
        }
    }

    /// Each diagnosis takes processor time. A live one also waits for servers that the tenant names.
    @Test(.timeLimit(.minutes(30)), arguments: ["", "&live=true"])
    func concurrentDiagnosesAreLimited(option: String) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            api.diagnoses.hold(true)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await client.send(.get, "\(Self.path)\(option)", key: api.reader).status
                    }
                }
                while api.diagnoses.begun < 4 { await Task.yield() }
                for option in ["", "&live=true"] {
                    let refused = try await client.send(.get, "\(Self.path)\(option)", key: api.reader)
                    #expect(refused.status == 429 && refused["limit"] == "concurrency", "\(option)")
                }
                api.diagnoses.hold(false)
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await client.send(.get, Self.path, key: api.reader).status == 200)
        }
    }
}
