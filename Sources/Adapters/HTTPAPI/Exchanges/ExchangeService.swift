import Foundation
import Logging
import NIOCore
import Routing

/// What the exchanges of all connections share: how requests are answered from memory, and who learns of it.
struct ExchangeService: Sendable {
    let service: AnswerService
    let proxies: TrustedProxies
    let observer: RequestObserver
    let logger: Logger
    /// How long the head of a request may take to arrive once it has begun.
    let headTimeout: TimeAmount
    /// Those that are answered here; the router can answer them too.
    let routes: [AnswerRoute]

    init(
        _ service: AnswerService, _ observer: RequestObserver, _ settings: APIServer.Settings, logger: Logger,
        routes: [AnswerRoute] = AnswerRoute.allCases
    ) {
        self.routes = routes
        self.service = service
        self.observer = observer
        self.logger = logger
        proxies = TrustedProxies(settings.trustedProxies)
        headTimeout = TimeAmount(settings.bodyTimeout)
    }

    /// Answers a request that is there whole. Never waits.
    func answer(
        _ request: AnswerRequest, as route: AnswerRoute, body: ByteBuffer, requestID: String
    ) -> Answer {
        let start = ContinuousClock.now
        let now = Date()
        var caller: KeyHolder?
        let answer: Answer
        do throws(Problem) {
            let admission = try service.admit(request, at: now)
            caller = admission.caller
            answer = try service.answer(admission, as: route, body: body, at: now)
        } catch {
            caller = error.caller
            answer = Answer(error, requestID: requestID)
        }
        observer.record(
            answer.status, route.method, route: route.path, answered: route, caller: caller,
            limit: answer.problem?.limit, requestID: requestID, duration: start.duration(to: .now), logger)
        return answer
    }
}
