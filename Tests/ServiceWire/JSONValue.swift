import FoundationEssentials
import ServiceWire

/// Any JSON, to look at what is really on the wire.
enum JSONValue: Decodable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? single.decode(Double.self) {
            self = .number(number)
        } else if let text = try? single.decode(String.self) {
            self = .text(text)
        } else if let array = try? single.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try single.decode([String: JSONValue].self))
        }
    }

    init(_ value: some Encodable) throws {
        self = try WireCoding.value(JSONValue.self, from: try WireCoding.line(value))
    }

    subscript(key: String) -> JSONValue? {
        if case .object(let fields) = self { fields[key] } else { nil }
    }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    var fields: [String: JSONValue]? { if case .object(let fields) = self { fields } else { nil } }
}

/// As much of JSON Schema as `Resources/protocol/schemas.json` uses. A keyword it does not know is a failure.
struct JSONSchemas {
    let definitions: [String: JSONValue]

    init(file: String) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: file)))
        definitions = try WireCoding.value(JSONValue.self, from: bytes)["$defs"]?.fields ?? [:]
    }

    /// What is wrong with a value; empty when it is as the definition says.
    func faults(of value: JSONValue, as name: String) -> [String] {
        guard let schema = definitions[name] else { return ["there is no definition of \(name)"] }
        return faults(of: value, schema, at: name)
    }

    private func faults(of value: JSONValue, _ schema: JSONValue, at place: String) -> [String] {
        var faults: [String] = []
        for (keyword, rule) in schema.fields ?? [:] {
            switch keyword {
            case "$ref":
                let name = String(rule.text?.dropFirst("#/$defs/".count) ?? "")
                guard let target = definitions[name] else { return ["\(place): no definition of \(name)"] }
                faults += self.faults(of: value, target, at: place)
            case "type": if !isType(value, rule.text) { faults.append("\(place) is not \(rule.text ?? "?")") }
            case "enum": if rule.array?.contains(value) != true { faults.append("\(place) has \(value)") }
            case "pattern": faults += matches(value, rule.text ?? "") ? [] : ["\(place) does not match: \(value)"]
            case "anyOf":
                let all = (rule.array ?? []).map { self.faults(of: value, $0, at: place) }
                if !all.contains([]) { faults += all.flatMap(\.self) }
            case "items":
                for (index, item) in (value.array ?? []).enumerated() {
                    faults += self.faults(of: item, rule, at: "\(place)[\(index)]")
                }
            case "required":
                for name in rule.array ?? [] where value[name.text ?? ""] == nil {
                    faults.append("\(place).\(name.text ?? "") is missing")
                }
            case "properties":
                for (name, property) in rule.fields ?? [:] {
                    if let inner = value[name] { faults += self.faults(of: inner, property, at: "\(place).\(name)") }
                }
            case "additionalProperties":
                let known = Set((schema["properties"]?.fields ?? [:]).keys)
                for (name, inner) in value.fields ?? [:] where !known.contains(name) {
                    faults +=
                        rule == .bool(false)
                        ? ["\(place).\(name) is not in the schema"]
                        : self.faults(of: inner, rule, at: "\(place).\(name)")
                }
            case "minimum", "maximum": faults += isInRange(value, keyword, rule) ? [] : ["\(place) is out of range"]
            case "minLength", "maxLength": break
            default: faults.append("\(place): the keyword \(keyword) is not known here")
            }
        }
        return faults
    }

    private func isType(_ value: JSONValue, _ type: String?) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("string", .text), ("array", .array), ("object", .object): true
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }

    private func isInRange(_ value: JSONValue, _ keyword: String, _ rule: JSONValue) -> Bool {
        guard case .number(let number) = value, case .number(let bound) = rule else { return true }
        return keyword == "minimum" ? number >= bound : number <= bound
    }

    private func matches(_ value: JSONValue, _ pattern: String) -> Bool {
        guard let text = value.text, let regex = try? Regex(pattern) else { return false }
        return text.firstMatch(of: regex) != nil
    }
}
