extension Endpoint {
    /// All problems that this endpoint can return, each once.
    ///
    /// The tests fail if a response has another code. The OpenAPI document lists these problems.
    var problems: [ProblemType] {
        var problems = admissionProblems
        if !bodyTypes.isEmpty {
            problems += [
                .unsupportedMediaType, .unsupportedContentCoding, .bodyTooLarge, .requestTimeout,
            ]
        }
        if takesBody { problems += [.invalidJSON, .missingField, .invalidField, .unknownField] }
        if case .streamed = handler {
            problems += [.insufficientStorage, .tooManyUploads, .tooManyImports, .conflict]
        }
        problems += idempotencyProblems + ownProblems
        var seen: Set<String> = []
        return problems.filter { seen.insert($0.code).inserted }
    }

    private var admissionProblems: [ProblemType] {
        let always: [ProblemType] = [.malformedRequest, .headerTooLarge, .rateLimited]
        return switch handler {
        case .open: always
        case .openStored: always + [.unavailable, .internalError]
        case .memory, .stored, .streamed, .storedWithin, .anySecretKey:
            always + [.unauthorized, .forbidden, .unavailable, .internalError]
        }
    }

    private var idempotencyProblems: [ProblemType] {
        switch idempotency {
        case .refused: requiresKey ? [.idempotencyKeyNotSupported] : []
        case .ofHandler: [.invalidIdempotencyKey, .idempotencyKeyReused]
        case .storedResponse:
            [
                .invalidIdempotencyKey, .idempotencyKeyReused, .idempotencyKeyInUse,
                .idempotencyResponseLost, .tooManyIdempotencyKeys,
            ]
        }
    }

    /// Whether a request needs an API key.
    var requiresKey: Bool {
        switch handler {
        case .open, .openStored: false
        case .memory, .stored, .streamed, .storedWithin, .anySecretKey: true
        }
    }
}

extension [ProblemType] {
    /// The problems of endpoints that read query parameters or refuse all of them.
    static var parameters: Self { [.invalidParameter, .unknownParameter] }

    /// The problems of endpoints for which a clip can require App Attest.
    static var attested: Self {
        [.attestationRequired, .attestationInvalid, .attestationNotConfigured]
    }

    /// The problems of endpoints that wait for APNs.
    static var apns: Self { [.apnsRefused, .apnsNotReached, .apnsUnanswered] }
}
