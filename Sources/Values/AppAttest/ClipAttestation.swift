public import JSON

/// What the requests of an App Clip must bring of App Attest, and which builds are taken.
public struct ClipAttestation: Sendable, Hashable {
    /// What a publishable key asks for.
    public enum Operation: String, Sendable, CaseIterable {
        case lookup, confirm, register
    }

    /// What is made of a request that brings nothing, or something that does not hold.
    public enum Demand: String, Sendable, CaseIterable {
        /// Nothing is looked at.
        case off
        /// It is counted, and answered all the same.
        case monitor
        /// It is refused.
        case require
    }

    /// The same of a confirmation, which may be asked to be signed by itself.
    public enum ConfirmationDemand: String, Sendable, CaseIterable {
        case off, monitor, require
        /// A token does not do.
        case requireSigned = "require_signed"
    }

    /// Of lookups, and of what is near.
    public var lookup: Demand
    public var confirm: ConfirmationDemand
    /// Of what is told of instances.
    public var register: Demand
    /// A key of another one is as good as none.
    public var environments: Set<AttestationEnvironment>
    public var categories: Set<ValidationCategory>
    /// Whether a device that states neither category nor bundle version is refused, as none before iOS 27 does.
    public var requiresStatements: Bool
    /// How many of a hundred installations are told to attest, so that many do not begin at once.
    public var ramp: Int

    public static let ramps = 0...100

    public init(
        lookup: Demand = .off, confirm: ConfirmationDemand = .off, register: Demand = .off,
        environments: Set<AttestationEnvironment> = [.production],
        categories: Set<ValidationCategory> = Set(ValidationCategory.allCases),
        requiresStatements: Bool = false, ramp: Int = 100
    ) {
        self.lookup = lookup
        self.confirm = confirm
        self.register = register
        self.environments = environments
        self.categories = categories
        self.requiresStatements = requiresStatements
        self.ramp = ramp
    }

    /// Takes nothing but what is signed: for what is stored and cannot be read, so that no mistake opens a door.
    public static let strictest = ClipAttestation(
        lookup: .require, confirm: .requireSigned, register: .require)

    public func demand(of operation: Operation) -> Demand {
        switch operation {
        case .lookup: lookup
        case .register: register
        case .confirm:
            switch confirm {
            case .off: .off
            case .monitor: .monitor
            case .require, .requireSigned: .require
            }
        }
    }

    /// Whether a token does not do.
    public func requiresSignature(of operation: Operation) -> Bool {
        operation == .confirm && confirm == .requireSigned
    }

    /// Whether what was attested so is as good as the clip asks for, where it requires anything.
    public func isSatisfied(by attestation: RequestAttestation, for operation: Operation) -> Bool {
        guard demand(of: operation) == .require else { return true }
        guard let environment = attestation.environment, environments.contains(environment) else {
            return false
        }
        return requiresSignature(of: operation) ? attestation.grade == .request : attestation.isAttested
    }

    /// What is refused by this, and was answered before.
    public func isStricter(than old: ClipAttestation?, for operation: Operation) -> Bool {
        let old = old ?? ClipAttestation()
        return demand(of: operation) == .require && old.demand(of: operation) != .require
            || requiresSignature(of: operation) && !old.requiresSignature(of: operation)
    }
}

extension ClipAttestation {
    public var json: JSONObject {
        var members: JSONObject = [
            "categories": .array(
                ValidationCategory.allCases.filter(categories.contains).map { .string($0.name) }),
            "confirm": .string(confirm.rawValue),
            "environments": .array(
                AttestationEnvironment.allCases.filter(environments.contains).map { .string($0.rawValue) }),
            "lookup": .string(lookup.rawValue), "ramp": JSONValue(ramp),
            "register": .string(register.rawValue),
        ]
        // Servers from before it is known would not understand the rest either.
        if requiresStatements { members["requireStatements"] = true }
        return members
    }

    /// Reads what ``json`` writes; what is left out is as ``init(lookup:confirm:register:environments:categories:requiresStatements:ramp:)`` has it.
    public init(_ fields: JSONObjectReader) throws(JSONFieldError) {
        var fields = fields
        self.init()
        lookup = try fields.optionalCase("lookup", of: Demand.self) ?? lookup
        confirm = try fields.optionalCase("confirm", of: ConfirmationDemand.self) ?? confirm
        register = try fields.optionalCase("register", of: Demand.self) ?? register
        environments =
            try fields.optionalNames(
                "environments", AttestationEnvironment.allCases.map { ($0.rawValue, $0) }) ?? environments
        categories =
            try fields.optionalNames("categories", ValidationCategory.allCases.map { ($0.name, $0) })
            ?? categories
        requiresStatements = try fields.optionalBool("requireStatements") ?? requiresStatements
        ramp = try fields.optionalInteger("ramp") ?? ramp
        guard Self.ramps.contains(ramp) else {
            throw .invalid(path: fields.path(of: "ramp"), reason: "must be from 0 to 100")
        }
        try fields.finish()
    }
}

extension JSONObjectReader {
    /// Takes names of values, of which there must be one at least.
    fileprivate mutating func optionalNames<Value>(
        _ key: String, _ known: [(name: String, value: Value)]
    ) throws(JSONFieldError) -> Set<Value>? {
        guard let names = try optionalArray(key) else { return nil }
        var values: Set<Value> = []
        // More than there are name one twice: none is looked for longer than that.
        for name in names.prefix(known.count) {
            guard let value = known.first(where: { name == .string($0.name) })?.value else { break }
            values.insert(value)
        }
        guard !names.isEmpty, values.count == names.count else {
            let list = known.map(\.name).joined(separator: ", ")
            throw .invalid(path: path(of: key), reason: "must have some of \(list), each once")
        }
        return values
    }
}
