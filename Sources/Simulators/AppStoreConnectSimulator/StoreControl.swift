import Formats

/// The control of a simulator in another process, over plain HTTP on a separate port.
///
/// - `GET /faults`, `PUT /faults` (an array), `POST /faults` (adds one), `DELETE /faults`
/// - `GET /knobs`, `PATCH /knobs`
/// - `GET /experiences` (including removed ones), `PATCH /experiences/ID` (a change by hand)
/// - `GET /counters`
/// - `POST /advance?seconds=`
struct StoreControl {
    private let state: AppStoreConnectSimulator.State

    init(_ state: AppStoreConnectSimulator.State) {
        self.state = state
    }

    func response(_ request: StoreSimulation.Request) -> StoreSimulation.Outcome {
        var response: StoreSimulation.Response
        do throws(JSONFieldError) {
            let value = try perform(request)
            response = StoreSimulation.Response(
                status: value == nil ? 204 : 200, body: value?.serialized() ?? [])
        } catch {
            response = StoreSimulation.Response(
                status: error == Self.nothing ? 404 : 400,
                body: JSONValue.object(["error": .string("\(error)")]).serialized())
        }
        response.headers.append(("Content-Type", "application/json"))
        return StoreSimulation.Outcome(response: response)
    }

    private static let nothing = JSONFieldError.invalid(
        path: "path", reason: "has nothing for this method")

    private func perform(_ request: StoreSimulation.Request) throws(JSONFieldError) -> JSONValue? {
        let parts = request.uri.split(separator: "?", maxSplits: 1)
        let path = parts.first ?? ""
        switch (request.method, path) {
        case ("GET", "/faults"):
            return .array(state.with { simulation, _ in simulation.faults }.map { .object($0.json) })
        case ("PUT", "/faults"):
            guard let values = try Self.json(request).arrayValue else {
                throw .wrongType(path: "", expected: "an array")
            }
            var faults: [Fault] = []
            for value in values { faults.append(try Fault(json: value)) }
            state.with { [faults] simulation, _ in simulation.faults = faults }
        case ("POST", "/faults"):
            let fault = try Fault(json: try Self.json(request))
            state.with { simulation, _ in simulation.faults += [fault] }
        case ("DELETE", "/faults"): state.with { simulation, _ in simulation.faults = [] }
        case ("GET", "/knobs"):
            return .object(state.with { simulation, _ in simulation.account.knobs }.json)
        case ("PATCH", "/knobs"):
            var knobs = state.with { simulation, _ in simulation.account.knobs }
            guard let members = try Self.json(request).objectValue else {
                throw .wrongType(path: "", expected: "an object")
            }
            try knobs.apply(members)
            state.with { [knobs] simulation, _ in simulation.account.knobs = knobs }
        case ("GET", "/experiences"):
            return .array(
                state.with { simulation, now in simulation.stored(at: now) }.map { .object($0.json) })
        case ("PATCH", _) where path.hasPrefix("/experiences/"):
            let edit = try RemoteEdit(json: try Self.json(request))
            let id = String(path.dropFirst("/experiences/".count))
            guard state.with({ simulation, now in simulation.edit(id, edit, at: now) }) else {
                throw Self.nothing
            }
        case ("GET", "/counters"):
            return .object(state.with { simulation, _ in simulation.counters }.json)
        case ("POST", "/advance"):
            let pairs = RequestQuery.pairs(parts.count > 1 ? parts[1] : "")
            guard let seconds = pairs.first(where: { $0.name == "seconds" }).flatMap({ Double($0.value) }),
                seconds >= 0, seconds <= 1e9
            else { throw .invalid(path: "seconds", reason: "must be a number of seconds") }
            state.with { simulation, _ in simulation.advance(by: seconds) }
        default: throw Self.nothing
        }
        return nil
    }

    private static func json(_ request: StoreSimulation.Request) throws(JSONFieldError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: request.body)
        } catch {
            throw .invalid(path: "", reason: "is no JSON: \(error)")
        }
    }
}
