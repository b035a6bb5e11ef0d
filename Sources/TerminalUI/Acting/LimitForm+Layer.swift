import MartletKit
import Terminal

/// The form of limits over the page.
extension LimitForm: Layer {
    static var level: LayerLevel { .limits }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        model.form?.paste(bytes)
        return true
    }

    func take(_ press: MousePress, in model: inout Model) {
        guard press.button == .left, case .form(.field(let line, _))? = model.target(of: press) else { return }
        model.form?.go(to: line)
    }

    func take(_ press: KeyPress, in model: inout Model) {
        guard let outcome = model.form?.take(press) else { return }
        switch outcome {
        case .open: break
        case .closed: model.form = nil
        case .entered(let wish):
            guard model.canChange else { return model.complain(model.cannotChange) }
            model.form = nil
            if wish.limits != LimitsWish() {
                model.ask(.setLimits(wish.limits)) { .setLimits(wish.limits, number: $0) }
            }
            for rate in wish.rates { Self.set(rate, in: &model) }
        }
    }

    private static func set(_ rate: Wish.Rate, in model: inout Model) {
        let deed = NodeDeed.set(NodeSettings(limit: rate.bytesPerSecond))
        switch rate.subject {
        case .rows(let rows): model.send(deed, rows)
        case .matching(let filter):
            model.ask(.named(deed, model.matching(filter))) {
                .act(deed, .matching(NodeSelector(filter: filter)), number: $0)
            }
        case .sent, .received, .transfers, .host, .session: break
        }
    }

    func draw(in drawing: inout Drawing) { drawing.form(self) }
}
