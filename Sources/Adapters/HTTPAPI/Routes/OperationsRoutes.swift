import Encodings
import Foundation
import HTTPTypes
import JSON
import NIOCore
import Routing

/// What those who run the server ask it: whether it lives, whether it can serve, how it does, and what it offers.
struct OperationsRoutes: Sendable {
    let table: LiveRoutingTable
    /// The metrics in Prometheus' text format.
    let exposition: @Sendable () -> String

    var routes: [Route] {
        [
            Route(.get, "/livez", .open(livez)), Route(.get, "/readyz", .open(readyz)),
            Route(.get, "/metrics", .open(metrics)), Route(.get, "/openapi.json", .open(openAPI)),
        ]
    }

    /// Answers as long as the process does.
    private func livez(_ request: APIRequest) -> Answer {
        Answer(uncached: JSONValue.object(["status": "ok"]).serialized())
    }

    /// 200 when requests can be answered, with how old what they are answered from is; 503 when they cannot.
    private func readyz(_ request: APIRequest) throws(Problem) -> Answer {
        guard let state = table.current else { throw .unavailable }
        let age = max(0, Date().timeIntervalSince(state.asOf))
        let status: JSONValue = [
            "status": "ok",
            "table": [
                "source": .string(state.source.rawValue),
                "asOf": .string(state.asOf.rfc3339),
                "ageSeconds": JSONValue(Int(age)),
                "experiences": JSONValue(state.table.experienceCount),
                "locations": JSONValue(state.table.locationCount),
            ],
        ]
        return Answer(uncached: status.serialized())
    }

    private func metrics(_ request: APIRequest) -> Answer {
        Answer(uncached: Array(exposition().utf8), as: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func openAPI(_ request: APIRequest) -> Answer {
        Answer(constant: Self.document, as: "application/json")
    }

    /// One for all answers: a client may ask for it many times before it reads.
    private static let document = ByteBuffer(bytes: PackageResources.openapi_json)
}
