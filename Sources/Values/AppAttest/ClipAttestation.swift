public import Formats

/// The App Attest requirements of an App Clip for its requests, and the builds that it accepts.
public struct ClipAttestation: Sendable, Hashable {
    /// An operation of a publishable key.
    public enum Operation: String, Sendable, CaseIterable {
        case lookup, confirm, register
    }

    /// The treatment of a request without a valid attestation.
    public enum Demand: String, Sendable, CaseIterable {
        /// No check.
        case off
        /// The request is counted and served.
        case monitor
        /// The request is refused.
        case require
    }

    /// The treatment of a confirmation, which may also require its own signature.
    public enum ConfirmationDemand: String, Sendable, CaseIterable {
        case off, monitor, require
        /// A token does not suffice.
        case requireSigned = "require_signed"
    }

    /// Applies to lookups and to searches for nearby locations.
    public var lookup: Demand
    public var confirm: ConfirmationDemand
    /// Applies to registrations and changes of instances.
    public var register: Demand
    /// The accepted environments; a key of another one does not count.
    public var environments: Set<AttestationEnvironment>
    public var categories: Set<ValidationCategory>
    /// Whether to reject a device that states neither category nor bundle version. No device before iOS 27
    /// states them.
    public var requiresStatements: Bool
    /// The percentage of installs that are told to attest, so that not all begin at the same time.
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

    /// Accepts only signed requests: the fallback for a stored value that cannot be read, so that no
    /// mistake lowers the protection.
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

    /// Whether a token does not suffice.
    public func requiresSignature(of operation: Operation) -> Bool {
        operation == .confirm && confirm == .requireSigned
    }

    /// Whether an attestation satisfies the clip's requirements for an operation, if it has any.
    public func isSatisfied(by attestation: RequestAttestation, for operation: Operation) -> Bool {
        guard demand(of: operation) == .require else { return true }
        guard let environment = attestation.environment, environments.contains(environment) else {
            return false
        }
        return requiresSignature(of: operation) ? attestation.grade == .request : attestation.isAttested
    }

    /// Whether this policy refuses requests that the old one accepted.
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
        // Omitted if false, because older servers would not understand the member.
        if requiresStatements { members["requireStatements"] = true }
        return members
    }

    /// Reads the output of ``json``; omitted members have the defaults of
    /// ``init(lookup:confirm:register:environments:categories:requiresStatements:ramp:)``.
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
    /// Takes a list of names of values, which must not be empty.
    fileprivate mutating func optionalNames<Value>(
        _ key: String, _ known: [(name: String, value: Value)]
    ) throws(JSONFieldError) -> Set<Value>? {
        guard let names = try optionalArray(key) else { return nil }
        var values: Set<Value> = []
        // A list with more entries than known names contains a duplicate, so reading can stop there.
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
