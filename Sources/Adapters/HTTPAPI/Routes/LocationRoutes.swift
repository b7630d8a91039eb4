import HTTPTypes
import Invocation
import Routing
import Tenancy

/// Where a business is, which are near, whether somebody is there, and what a notification about it looks like: all from memory.
struct LocationRoutes: Sendable {
    let answers: APIAnswers

    var routes: [Route] {
        [
            Route(.get, "/v1/lookup", .memory(.lookUp, lookUp)),
            Route(.post, "/v1/nearby", .memory(.lookUp, nearby)),
            Route(.post, "/v1/confirmations", .memory(.confirm, confirm)),
            Route(.post, "/v1/payloads", .memory(.compose, compose)),
        ]
    }

    private func lookUp(_ request: AdmittedRequest) throws(Problem) -> Answer {
        let parameters = try QueryParameters(request.query.utf8.span, named: "url")
        let text = try parameters.required("url")
        let url = try Problem.url(text.span)
        return Answer(
            cacheable: try APIAnswers.lookUp(url, in: request.table),
            ifNoneMatch: request.request.fields.ifNoneMatch)
    }

    private func nearby(_ request: AdmittedRequest) throws(Problem) -> Answer {
        Answer(uncached: try APIAnswers.nearby(request.body, in: request.table))
    }

    private func confirm(_ request: AdmittedRequest) throws(Problem) -> Answer {
        Answer(uncached: try answers.confirm(request.body, in: request.table, at: request.now))
    }

    private func compose(_ request: AdmittedRequest) throws(Problem) -> Answer {
        Answer(uncached: try answers.compose(request.body, in: request.table, at: request.now))
    }
}
