import Glibc
import Testing

@testable import Terminal

@Suite("Colours help, and nothing depends on them")
struct PaletteTests {
    @Test("NO_COLOR, dumb terminals and --color=never mean none; --color=always wins over NO_COLOR")
    func depth() {
        let depth = { (mode: ColorMode, available: Int, noColor: String?, term: String) in
            ColorDepth(mode, available: available, noColor: noColor, term: term)
        }
        #expect(depth(.auto, 256, nil, "xterm-256color") == .many)
        #expect(depth(.auto, 8, nil, "linux") == .eight)
        #expect(depth(.auto, 88, nil, "rxvt-88color") == .eight)
        #expect(depth(.auto, -1, nil, "vt100") == .none)
        #expect(depth(.auto, 256, "1", "xterm") == .none)
        #expect(depth(.auto, 256, "", "xterm") == .many, "present, but empty")
        #expect(depth(.auto, 256, nil, "dumb") == .none)
        #expect(depth(.never, 256, nil, "xterm") == .none)
        #expect(depth(.always, 256, "1", "xterm") == .many)
        #expect(depth(.always, 0, nil, "vt100") == .none)
    }

    @Test("COLORFGBG chooses a theme, nothing else does")
    func theme() {
        #expect(Theme(colorFgBg: "15;0") == .dark)
        #expect(Theme(colorFgBg: "0;15") == .light)
        #expect(Theme(colorFgBg: "0;default;15") == .light)
        #expect(Theme(colorFgBg: "default;default") == .any)
        #expect(Theme(colorFgBg: nil) == .any)
        #expect(Theme(colorFgBg: "") == .any)
    }

    @Test("without colour the states that need the person still stand out")
    func mono() {
        let palette = Palette(depth: .none)
        #expect(Role.allCases.allSatisfy { palette.rendition(of: Style($0)).color == nil })
        #expect(palette.rendition(of: .error).attributes == .bold)
        #expect(palette.rendition(of: .warn).attributes == .underline)
        #expect(palette.rendition(of: .attention).attributes == .reverse)
        #expect(palette.rendition(of: .marked).attributes == .bold)
    }

    @Test("the selected row is reverse and nothing but reverse, apart from what is bold", arguments: [8, 256, 0])
    func selected(colors: Int) {
        let palette = Palette(depth: ColorDepth(.always, available: colors, noColor: nil, term: "xterm"))
        for role in Role.allCases where role != .header && role != .hint {
            let rendition = palette.rendition(of: Style(role, selected: true))
            #expect(rendition.attributes.contains(.reverse) && rendition.color == nil)
        }
    }

    @Test("yellow, white and bright black are never used on the terminal's background")
    func eight() {
        #expect(Set(Palette(depth: .eight).colors).isDisjoint(with: [0, 3, 7, 8, 11, 15]))
    }

    @Test("every colour is readable on the backgrounds of its theme")
    func contrast() {
        for color in Palette(depth: .many, theme: .any).colors {
            #expect(contrastRatio(color, 231) >= 4.3 && contrastRatio(color, 16) >= 4.3, "\(color)")
        }
        for color in Palette(depth: .many, theme: .dark).colors {
            #expect(contrastRatio(color, 16) >= 6 && contrastRatio(color, 234) >= 4.5, "\(color)")
        }
        for color in Palette(depth: .many, theme: .light).colors {
            #expect(contrastRatio(color, 231) >= 5.5 && contrastRatio(color, 255) >= 4.5, "\(color)")
        }
    }

    /// WCAG 2's contrast of two colours of the 256-colour palette.
    private func contrastRatio(_ first: Int, _ second: Int) -> Double {
        let (one, two) = (luminance(first), luminance(second))
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    private func luminance(_ color: Int) -> Double {
        let channels: [Int]
        if color >= 232 {
            channels = Array(repeating: 8 + (color - 232) * 10, count: 3)
        } else {
            let cube = color - 16
            channels = [cube / 36, cube / 6 % 6, cube % 6].map { $0 == 0 ? 0 : 55 + $0 * 40 }
        }
        let linear = channels.map { channel -> Double in
            let value = Double(channel) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    @Test("own colours stand for the theme's, where the terminal has them; none are none")
    func own() {
        let own: [Role: Int] = [.error: 160, .ok: 4, .dim: -1]
        func color(_ role: Role, _ depth: ColorDepth) -> Int? {
            Palette(depth: depth, own: own).rendition(of: Style(role)).color
        }
        #expect(color(.error, .many) == 160 && color(.ok, .many) == 4 && color(.dim, .many) == nil)
        #expect(color(.error, .eight) == 1 && color(.ok, .eight) == 4)
        #expect(color(.ok, .none) == nil)
        #expect(Palette(depth: .many, own: own).colors.contains(160))
    }
}
