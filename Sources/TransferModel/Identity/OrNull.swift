/// A value that JSON shows as `null` when it is unknown, instead of leaving its key out. A missing key reads as unknown.
@propertyWrapper
public struct OrNull<Value: Codable & Sendable>: Sendable {
    public var wrappedValue: Value?
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension OrNull: Codable {
    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        wrappedValue = single.decodeNil() ? nil : try single.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        if let wrappedValue { try single.encode(wrappedValue) } else { try single.encodeNil() }
    }
}

extension OrNull: Equatable where Value: Equatable {}
extension OrNull: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    public func decode<Value>(_: OrNull<Value>.Type, forKey key: Key) throws -> OrNull<Value> {
        try decodeIfPresent(OrNull<Value>.self, forKey: key) ?? OrNull(wrappedValue: nil)
    }
}
