//! Makes random scripts in which everything has a type.

use super::random::Random;
use super::script::{Item, Script, Stmt, vary};

/// Globals, with what fixes their types and prints them at the end.
const FRAME: &str = r#"global n0, n1 = 5, n2, top, bits, unread, always = 3, once, step, drained
global text = "start", other
global a[4], b[5], two[6], last%[3], s[4]
global st, h
probe begin(-9) { once = 7; n2 = always }
probe end {
  printf("%d %d %d %d %d %d %s %s\n", n0, n1, n2, top, bits, once, text, other)
  printf("%d %d\n", step, drained)
  foreach (x+ in a) printf("%d=%d ", x, a[x])
  foreach (y+ in b) printf("%s=%d ", y, b[y])
  foreach ([x+, y] in two) printf("%d,%s=%d ", x, y, two[x, y])
  foreach (x+ in last) printf("%d=%s ", x, last[x])
  foreach (y+ in s) printf("%s:%d,%d ", y, @count(s[y]), @sum(s[y]))
  printf("%d %d\n", @count(st), @sum(h))
  if (@count(st)) printf("%d %d %d %d\n", @min(st), @max(st), @avg(st), @variance(st))
  print(@hist_log(st))
}
probe error { printf("%d %d %s\n", n0, n1, text) }
"#;

/// Locals get their types here.
const FIRST: &str = r#"l0 = 0; l1 = 1; l2 = 2; s0 = ""; s1 = "s""#;

/// The script of a seed.
pub(crate) fn script(seed: u64) -> Script {
    let mut random = Random::new(seed);
    let mut script = Script { frame: FRAME.into(), functions: Vec::new(), probes: Vec::new() };
    let functions = random.below(4) as usize;
    while script.functions.len() < functions {
        let n = script.functions.len();
        let head = format!("function f{n}:long(p:long)");
        let mut generator = Generator::new(&mut random, n, Some(n));
        generator.calm = generator.one_in(2);
        let size = 2 + generator.random.below(6);
        let body = generator.statements(size);
        let last = format!("return {}", generator.long(2));
        let (body, last) = match script.functions.last() {
            // Now and then two functions are alike, or but for literals.
            Some(Item { body, last, .. }) if random.below(2) == 0 => match random.below(2) {
                0 => (body.clone(), last.clone()),
                _ => (vary(&mut random, body, false), last.clone()),
            },
            _ => (body, last),
        };
        script.functions.push(Item { head, first: FIRST.into(), body, last });
    }
    let points = [
        ("begin", 3),
        ("kernel.trace(\"one\")", 7),
        ("timer.s(5)", 6),
        ("timer.profile, kernel.trace(\"two\")", 7),
        ("kernel.trace(\"three\")", 6),
        ("timer.ms(7)", 5),
    ];
    for (point, most) in points {
        let mut generator = Generator::new(&mut random, functions, None);
        let size = 1 + generator.random.below(most);
        let mut body = generator.statements(size);
        if generator.one_in(3) {
            body.insert(0, generator.call_all());
        }
        let body = match script.probes.last() {
            // Now and then two probes are alike.
            Some(Item { body, .. }) if random.below(3) == 0 => vary(&mut random, body, true),
            _ => body,
        };
        let head = format!("probe {point}");
        script.probes.push(Item { head, first: FIRST.into(), body, last: String::new() });
    }
    if random.below(3) == 0 {
        script.probes.extend(steps(&mut random));
    }
    script
}

/// Probes that do nothing with a global but to read it and write it.
fn steps(random: &mut Random) -> Vec<Item> {
    let step = |random: &mut Random| {
        let n = random.below(9);
        match random.below(5) {
            4 => "step += step".to_owned(),
            0 => format!("if (step++ < {n}) printf(\"%d\\n\", step)"),
            1 => format!("l1 = step; step = pid() + {n}; println(l1 & {n})"),
            2 => format!("println(step-- * {n}, pid())"),
            _ => format!("step += {n}"),
        }
    };
    let lines = [
        ("kernel.trace(\"four\")", step(random)),
        ("kernel.trace(\"five\")", format!("drained += tid() + {}", random.below(9))),
        ("kernel.trace(\"six\")", step(random)),
        ("timer.ms(11)", "l0 = drained; drained = 0; if (l0) println(l0)".to_owned()),
    ];
    let probe = |(point, line): (&str, String)| Item {
        head: format!("probe {point}"),
        first: FIRST.into(),
        body: vec![Stmt::Line(line)],
        last: String::new(),
    };
    lines.into_iter().map(probe).collect()
}

struct Generator<'a> {
    random: &'a mut Random,
    /// Functions with a smaller number can be called, and the function itself.
    callable: usize,
    own: Option<usize>,
    depth: u32,
    loops: u32,
    /// Loops and walks so far, which number their variables.
    count: u32,
    /// Arrays that are being walked: they must not be written.
    walked: Vec<&'static str>,
    /// Nothing that could raise: functions that differ in positions are the same then.
    calm: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, callable: usize, own: Option<usize>) -> Self {
        let walked = Vec::new();
        Generator { random, callable, own, depth: 0, loops: 0, count: 0, walked, calm: false }
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn statements(&mut self, count: u64) -> Vec<Stmt> {
        (0..count).map(|_| self.statement()).collect()
    }

    fn nested(&mut self, most: u64) -> Vec<Stmt> {
        self.depth += 1;
        let size = 1 + self.random.below(most);
        let stmts = self.statements(size);
        self.depth -= 1;
        stmts
    }

    fn statement(&mut self) -> Stmt {
        if self.calm {
            return self.calm_statement();
        }
        let deep = self.depth >= 3;
        let line = match self.random.below(if deep { 16 } else { 24 }) {
            0 | 1 => format!("{} = {}", self.long_place(), self.long(3)),
            2 => format!("{} = {}", self.pick(&["s0", "s1", "text", "other"]), self.text(3)),
            3 | 4 => self.array_write(),
            5 => self.update(),
            6 => match self.random.below(3) {
                0 => format!("st <<< {}", self.long(2)),
                1 => format!("h <<< {} % 30", self.long(2)),
                _ if self.walked.contains(&"s") => "n0++".into(),
                _ => format!("s[{}] <<< {}", self.text(1), self.long(2)),
            },
            7 | 8 => self.print(),
            9 => self.deletion(),
            10 => self.rare(),
            11 => {
                let value = self.long(1);
                match self.random.below(3) {
                    0 => format!("if ({value} > top) top = {value}"),
                    1 => format!("if (n1 > {value}) n1 = {value}"),
                    _ => format!("if (n1 < {value}) n1 = {value}"),
                }
            }
            12 => format!("bits |= {}", self.long(2)),
            13 => format!("once = {}", self.long(1)),
            14 => format!("unread = {}", self.long(2)),
            15 => format!("println({}, \"k1\", {})", self.long(2), self.text(1)),
            16..=18 => return self.branch(),
            19 | 20 => return self.repeat(),
            21 => return self.walk(),
            _ => return self.try_catch(),
        };
        Stmt::Line(line)
    }

    fn calm_statement(&mut self) -> Stmt {
        Stmt::Line(match self.random.below(if self.depth >= 3 { 5 } else { 6 }) {
            0 => format!("{} = {}", self.long_place(), self.long(3)),
            1 => format!("{} = {}", self.pick(&["s0", "s1", "text", "other"]), self.text(2)),
            2 => format!("{} += {}", self.long_place(), self.long(2)),
            3 => format!("bits |= {}", self.long(2)),
            4 => format!("printf(\"%d %s\\n\", {}, {})", self.long(2), self.text(2)),
            _ => return self.branch(),
        })
    }

    fn pick(&mut self, items: &[&'static str]) -> &'static str {
        self.random.pick(items)
    }

    fn long_place(&mut self) -> String {
        match self.random.below(5) {
            0 => self.pick(&["n0", "n1", "n2"]).into(),
            _ => self.pick(&["l0", "l1", "l2"]).into(),
        }
    }

    /// An array that may be written, with a key and whether its values are strings.
    fn element(&mut self) -> Option<(String, bool)> {
        let (long, text) = (self.long(1), self.text(1));
        let (array, keys, is_text) = match self.random.below(5) {
            0 | 1 => ("a", long, false),
            2 => ("b", text, false),
            3 => ("two", format!("{long}, {text}"), false),
            _ => ("last", long, true),
        };
        (!self.walked.contains(&array)).then(|| (format!("{array}[{keys}]"), is_text))
    }

    fn array_write(&mut self) -> String {
        match self.element() {
            Some((place, true)) => format!("{place} = {}", self.text(2)),
            Some((place, false)) => {
                let op = self.pick(&["=", "=", "+=", "-=", "|=", "*="]);
                format!("{place} {op} {}", self.long(2))
            }
            None => "n0++".into(),
        }
    }

    fn update(&mut self) -> String {
        match self.element() {
            Some((place, false)) if self.one_in(2) => format!("{place}++"),
            _ => {
                let op = self.pick(&["+=", "-=", "|=", "^=", "<<=", ">>="]);
                format!("{} {op} {}", self.long_place(), self.long(2))
            }
        }
    }

    fn print(&mut self) -> String {
        match self.random.below(8) {
            0 => format!("print({})", self.long(2)),
            1 => format!(
                "printf(\"%5d|%-4s|%x\\n\", {}, {}, {})",
                self.long(2),
                self.text(1),
                self.long(1)
            ),
            2 => format!(
                "printf(\"%*d %.*s\\n\", {}, {}, {}, {})",
                self.long(1) + " & 7",
                self.long(2),
                self.long(1) + " & 3",
                self.text(2)
            ),
            3 => format!(
                "printf(\"%s %u %o %c\\n\", {}, {}, {}, 65 + ({} & 15))",
                self.text(2),
                self.long(1),
                self.long(1),
                self.long(1)
            ),
            4 => format!("printf(\"%m\\n\", {})", self.long(1)),
            5 => format!("printd(\",\", {}, {})", self.long(1), self.long(1)),
            _ => format!("printf(\"%d %s\\n\", {}, {})", self.long(2), self.text(2)),
        }
    }

    fn deletion(&mut self) -> String {
        match self.random.below(8) {
            0 => "delete n2".into(),
            1 if !self.walked.contains(&"b") => "delete b".into(),
            2 => "delete st".into(),
            3 => "delete other".into(),
            _ => match self.element() {
                Some((place, _)) => format!("delete {place}"),
                None => "delete text".into(),
            },
        }
    }

    fn rare(&mut self) -> String {
        match self.random.below(10) {
            0 => "exit()".into(),
            1 => format!("error({})", self.text(1)),
            2 if self.own.is_none() => "next".into(),
            3 if self.own.is_some() => format!("return {}", self.long(1)),
            4 => format!("warn({})", self.text(1)),
            5 if self.loops > 0 && self.walked.is_empty() => "continue".into(),
            6 if self.loops > 0 => "break".into(),
            7 => "%{ /* statement */ ; %}".into(),
            8 if self.one_in(4) => "abort()".into(),
            _ => self.update(),
        }
    }

    fn branch(&mut self) -> Stmt {
        let mut parts = vec![(format!("if ({})", self.long(3)), self.nested(3))];
        if self.one_in(2) {
            parts.push(("else".into(), self.nested(3)));
            // Now and then the two ways end alike.
            if self.one_in(3) {
                let calm = std::mem::replace(&mut self.calm, true);
                let end = self.calm_statement();
                self.calm = calm;
                parts.iter_mut().for_each(|(_, body)| body.push(end.clone()));
            }
        }
        Stmt::Nested(parts)
    }

    fn repeat(&mut self) -> Stmt {
        self.count += 1;
        self.loops += 1;
        let (i, limit) = (format!("i{}", self.count), self.random.below(4));
        let head = match self.random.below(3) {
            0 => format!("{i} = {limit}; while ({i}-- > 0)"),
            _ => format!("for ({i} = 0; {i} < {limit}; {i}++)"),
        };
        let body = self.nested(4);
        self.loops -= 1;
        Stmt::Nested(vec![(head, body)])
    }

    fn walk(&mut self) -> Stmt {
        if !self.walked.is_empty() {
            return Stmt::Line("n1--".into());
        }
        self.count += 1;
        let n = self.count;
        let limit = if self.one_in(3) { format!(" limit {}", self.long(1)) } else { String::new() };
        let order = self.pick(&["+", "-"]);
        let (array, head, show) = match self.random.below(8) {
            6 => ("", format!("k{n} in @hist_linear(h, 10, 90, 20)"), format!("k{n}")),
            0 => ("a", format!("k{n}{order} in a{limit}"), format!("a[k{n}] + k{n}")),
            1 => ("a", format!("k{n} in a{order}{limit}"), format!("a[k{n}]")),
            2 => ("b", format!("t{n} in b{order}{limit}"), format!("b[t{n}] + strlen(t{n})")),
            3 => {
                ("two", format!("[k{n}{order}, t{n}] in two[*, {}]", self.text(1)), format!("k{n}"))
            }
            4 => ("last", format!("v{n} = [k{n}] in last{order}"), format!("strlen(v{n})")),
            5 => {
                let field = self.pick(&["@count", "@sum", "@min", "@max", "@avg"]);
                let shown = self.pick(&["@count", "@sum", "@min", "@max", "@avg", "@variance"]);
                let show = format!("{shown}(s[t{n}])");
                ("s", format!("t{n} in s {field}{order}{limit}"), show)
            }
            _ => ("two", format!("[k{n}, t{n}{order}] in two{limit}"), format!("two[k{n}, t{n}]")),
        };
        self.walked.push(array);
        self.loops += 1;
        let mut body = self.nested(2);
        self.loops -= 1;
        self.walked.pop();
        body.insert(0, Stmt::Line(format!("printf(\"%d \", {show})")));
        Stmt::Nested(vec![(format!("foreach ({head})"), body)])
    }

    fn try_catch(&mut self) -> Stmt {
        let body = self.nested(4);
        let (head, mut handler) = match self.random.below(3) {
            0 => ("catch", self.nested(2)),
            _ => ("catch (m)", self.nested(2)),
        };
        if head == "catch (m)" {
            handler.insert(0, Stmt::Line("s1 = m".into()));
        }
        Stmt::Nested(vec![("try".into(), body), (head.into(), handler)])
    }

    /// An expression that is a number.
    fn long(&mut self, depth: u32) -> String {
        if depth == 0 || self.one_in(4) {
            return self.long_leaf();
        }
        let d = depth - 1;
        if self.calm {
            let op = self.pick(&["+", "-", "*", "&", "|", "^", "<", ">=", "==", "&&"]);
            return format!("({} {op} {})", self.long(d), self.long(d));
        }
        match self.random.below(23) {
            0..=6 => {
                let op = self
                    .pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "&&", "||"]);
                format!("({} {op} {})", self.long(d), self.long(d))
            }
            7..=9 => {
                let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.long(d), self.long(d))
            }
            10 => {
                let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.text(d), self.text(d))
            }
            11 => format!("({} ? {} : {})", self.long(d), self.long(d), self.long(d)),
            12 => {
                let op = self.pick(&["-", "~", "!"]);
                format!("({op}{})", self.long(d))
            }
            13 => format!("strlen({})", self.text(d)),
            14 => match self.random.below(4) {
                0 => format!("isinstr({}, {})", self.text(d), self.text(0)),
                1 => format!("stringat({}, {})", self.text(d), self.long(d)),
                2 => format!("strtol({}, 10)", self.text(d)),
                _ => format!(
                    "({} =~ \"{}\")",
                    self.text(d),
                    self.pick(&["^p[01]", "a.*s", "k[0-4]$"])
                ),
            },
            15 => format!("a[{}]", self.long(d)),
            16 => format!("two[{}, {}]", self.long(d), self.text(d)),
            17 => match self.random.below(3) {
                0 => format!("({} in a)", self.long(d)),
                1 => format!("([{}, {}] in two)", self.long(d), self.text(d)),
                _ => format!("({} in b)", self.text(d)),
            },
            18 => match self.random.below(5) {
                0 => format!("@hist_linear(h, 10, 90, 20)[{}]", self.long(d)),
                1 => format!("@hist_log(st)[{} & 127]", self.long(d)),
                2 => format!("{}(h)", self.pick(&["@min", "@max", "@avg", "@variance"])),
                _ => format!("{}(st)", self.pick(&["@count", "@sum"])),
            },
            19 => format!(
                "({} {} {})",
                self.pick(&["l0", "l1", "n0"]),
                self.pick(&["=", "+="]),
                self.long(d)
            ),
            20 => self.pick(&["n0++", "--n1", "l1++", "++l2"]).into(),
            21 => self.guarded(d),
            _ => self.call(d),
        }
    }

    /// What could go wrong but for what is asked or known before.
    fn guarded(&mut self, depth: u32) -> String {
        let (x, op) = (self.pick(&["l0", "l1", "n0", "pid()"]), self.pick(&["/", "%"]));
        let (text, d) = (self.pick(&["s0", "text", "execname()"]), depth);
        match self.random.below(6) {
            0 => format!("({x} ? {} {op} {x} : {})", self.long(d), self.long(d)),
            1 => format!("({x} > 0 ? {} {op} {x} : {})", self.long(d), self.long(d)),
            2 => format!("({} {op} (({} & 7) + 1))", self.long(d), self.long(d)),
            3 => format!("({x} >= 0 && {x} < strlen({text}) ? stringat({text}, {x}) : {x})"),
            4 => format!("(({} & 15) {op} 4)", self.long(d)),
            _ => format!("({} << ({} & 15))", self.long(d), self.long(d)),
        }
    }

    fn call(&mut self, depth: u32) -> String {
        let choices = self.callable + usize::from(self.own.is_some());
        // A function might write an array that is being walked.
        if choices == 0 || !self.walked.is_empty() {
            return self.long_leaf();
        }
        let n = self.random.below(choices as u64);
        format!("f{n}({})", self.long(depth))
    }

    /// A statement that calls every function.
    fn call_all(&mut self) -> Stmt {
        let calls = (0..self.callable).map(|n| format!(" + f{n}({n})"));
        Stmt::Line(format!("n0 += 1{}", calls.collect::<String>()))
    }

    fn long_leaf(&mut self) -> String {
        match self.random.below(12) {
            0..=4 => self.random.below(10).to_string(),
            5 => self.pick(&["63", "64", "-1", "0x7fffffffffffffff", "100"]).into(),
            6 | 7 => self.pick(&["l0", "l1", "l2"]).into(),
            8 => self.pick(&["n0", "n1", "n2", "always", "once", "top"]).into(),
            9 => self.pick(&["pid()", "tid()", "cpu()", "uid()", "gettimeofday_ns()"]).into(),
            10 if self.own.is_some() => "p".into(),
            10 => "%{ 4 %}".into(),
            _ => self.pick(&["l0", "l1"]).into(),
        }
    }

    /// An expression that is a string.
    fn text(&mut self, depth: u32) -> String {
        if depth == 0 || self.one_in(3) {
            return match self.random.below(9) {
                0..=3 => format!("\"k{}\"", self.random.below(5)),
                4 => self.pick(&["\"\"", "\"a longer text, of 29 bytes...\"", "\"7up\""]).into(),
                5 | 6 => self.pick(&["s0", "s1"]).into(),
                7 => self.pick(&["text", "other", "last[1]"]).into(),
                _ => self.pick(&["execname()", "pp()", "pn()", "probefunc()"]).into(),
            };
        }
        let d = depth - 1;
        match self.random.below(8) {
            0 | 1 => format!("({} . {})", self.text(d), self.text(d)),
            2 => format!("substr({}, {}, {})", self.text(d), self.long(d), self.long(d)),
            3 => format!("sprintf(\"%d-%s\", {}, {})", self.long(d), self.text(d)),
            4 => format!("str_replace({}, {}, {})", self.text(d), self.text(0), self.text(0)),
            5 => format!("text_str({})", self.text(d)),
            6 => format!("tokenize({}, \"-k\")", self.text(d)),
            _ => format!("({} ? {} : {})", self.long(d), self.text(d), self.text(d)),
        }
    }
}
