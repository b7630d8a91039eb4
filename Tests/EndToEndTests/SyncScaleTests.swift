import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Formats
import Foundation
import StoreSupport
import Synchronization
import Testing

/// Synchronizes many experiences with a clock that skips waiting times. The used budget must agree with the forecast.
@Suite(.timeLimit(.minutes(60))) struct SyncScaleTests {
    /// The number of experiences: `DOORSTEP_TEST_EXPERIENCES`, default 300. deploy/bench/registration has 10,000.
    private static let count =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_EXPERIENCES"].flatMap { Int($0) } ?? 300
    private static let images = min(50, count / 6)

    /// The requests and hours of one step, and the forecast.
    private struct Step {
        let name: String
        let changes: Int
        let requests: Int
        let forecast: Int
        let hours: Double
        let forecastHours: Double

        var json: JSONValue {
            [
                "step": .string(name), "changes": JSONValue(changes), "requests": JSONValue(requests),
                "forecast": JSONValue(forecast), "hours": JSONValue(finite: hours),
                "forecastHours": JSONValue(finite: forecastHours),
            ]
        }
    }

    @Test func requestsStayWithinForecast() async throws {
        try await RegisteredTenant.lend { tenant in
            for seed in 0..<Self.images {
                let names = stride(from: seed, to: Self.count, by: Self.images).map { "p\($0)" }
                try await tenant.add(names, image: tenant.addImage(seed: seed))
            }
            var steps = [try await Self.apply("first apply", tenant)]
            #expect(steps[0].changes == Self.count)
            // The first hour's budget is free. All requests beyond it wait.
            #expect(steps[0].hours <= steps[0].forecastHours + 1.1, "\(steps[0].hours)")
            steps.append(try await Self.apply("second apply", tenant))
            #expect(steps[1].changes == 0)

            let few = max(1, Self.count / 100)
            for number in 0..<few { try await tenant.retitle("p\(number)", "Changed \(number)") }
            steps.append(try await Self.apply("1 % changed", tenant))
            #expect(steps[2].changes == few)

            for number in 0..<few {
                let remote = try #require(tenant.remote["p\(few + number)"]?.first)
                var edit = RemoteEdit()
                if number % 2 == 0 {
                    edit.texts = ["EN": ["title": "By hand"]]
                } else {
                    edit.isRemoved = true
                }
                tenant.simulator.edit(remote.id, edit)
            }
            // Waits until listings show all changes.
            try await tenant.clock.sleep(for: .seconds(61))
            #expect(try await tenant.plan().drifted.count == few)
            steps.append(try await Self.apply("1 % changed by hand", tenant))
            #expect(steps[3].changes == few)

            let counters = tenant.simulator.counters
            #expect(try await tenant.plan().isInStep)
            #expect(tenant.remote.count == Self.count && tenant.remote.values.allSatisfy { $0.count == 1 })
            #expect(counters.overruns == 0 && counters.mostInAnHour <= 3_248)
            let report: JSONValue = [
                "experiences": JSONValue(Self.count), "images": JSONValue(Self.images),
                "mostInAnHour": JSONValue(counters.mostInAnHour), "overruns": JSONValue(counters.overruns),
                "steps": .array(steps.map(\.json)),
            ]
            // deploy/bench/registration reads this line.
            print("registration scale: " + report.text)
        }
    }

    /// Makes a plan and applies it.
    private static func apply(_ name: String, _ tenant: RegisteredTenant) async throws -> Step {
        let plan = try await tenant.plan()
        let (before, start) = (tenant.requestCount, tenant.clock.now())
        let outcome = try await tenant.apply()
        #expect(outcome.hasSucceeded && outcome.survey?.isInStep == true, "\(name): \(outcome.text)")
        let step = Step(
            name: name, changes: outcome.created + outcome.updated, requests: tenant.requestCount - before,
            forecast: plan.forecast.requests, hours: tenant.clock.now().timeIntervalSince(start) / 3_600,
            forecastHours: plan.forecast.hours(requestsPerHour: plan.allowance) ?? 0)
        // Requests that are not part of the forecast: app and clip in each survey, and a check of each missing experience.
        let missing = plan.missing.count
        #expect(step.requests <= step.forecast + 4 + missing, "\(name): \(step.requests) of \(step.forecast)")
        #expect(step.requests >= step.forecast / 2, "\(name): \(step.requests) of \(step.forecast)")
        return step
    }
}
