import AppAttest

extension RequestAttestation.Grade {
    /// The number of the grade in a confirmation's row.
    var number: Int {
        switch self {
        case .none: 0
        case .token: 1
        case .request: 2
        }
    }

    init?(number: Int) {
        guard let grade = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = grade
    }
}
