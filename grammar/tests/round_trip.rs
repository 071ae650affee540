//! Printing a tree and parsing the text gives the tree again, for all trees that a script can have.

use proptest::prelude::*;
use xlate_grammar::ast::*;
use xlate_grammar::coverage::Coverage;
use xlate_grammar::{
    Environment, LibraryMacros, ParseOptions, SourceMap, Span, format, parse_script, print, render,
};

const NOWHERE: Span = Span::ERASED;

/// Makes a tree out of random bytes: each choice takes one, and without bytes the first, simplest
/// alternative is chosen.
struct Choices<'a> {
    bytes: &'a [u8],
    /// How many levels may still be nested.
    room: u32,
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                *byte
            }
            None => 0,
        }
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn list<T>(&mut self, least: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(3);
        (0..count).map(|_| make(self)).collect()
    }

    fn word(&mut self) -> String {
        self.pick(&["a", "bc", "_x1", "counts", "Kernel", "i"]).to_owned()
    }

    fn ident(&mut self) -> Ident {
        Ident { name: self.word(), span: NOWHERE }
    }

    fn number(&mut self) -> i64 {
        match self.below(4) {
            0 => i64::from(self.byte()),
            1 => -i64::from(self.byte()),
            2 => i64::MIN + i64::from(self.byte()),
            _ => i64::MAX - i64::from(self.byte()),
        }
    }

    fn bytes(&mut self) -> ByteString {
        let count = self.below(5);
        ByteString((0..count).map(|_| self.byte()).collect())
    }

    fn string(&mut self) -> StringLit {
        StringLit { value: self.bytes(), span: NOWHERE }
    }

    fn literal(&mut self) -> Literal {
        let value = match self.flag() {
            false => LiteralValue::Number(self.number()),
            true => LiteralValue::String(self.bytes()),
        };
        Literal { value, span: NOWHERE }
    }

    fn code(&mut self) -> String {
        self.pick(&["", " 1 ", " /* string */ \"%\" ", "\n}\n%{ \"\n"]).to_owned()
    }

    // ------------------------------------------------------------------- Items

    fn file(&mut self) -> File {
        let mut items = vec![self.item()];
        while !self.bytes.is_empty() && items.len() < 8 {
            items.push(self.item());
        }
        let mut sources = SourceMap::new();
        File { file: sources.add("generated", ""), items }
    }

    fn item(&mut self) -> Item {
        match self.below(5) {
            0 => Item::Probe(Probe {
                points: self.list(1, |this| this.point(2, true)),
                body: self.block(false),
                span: NOWHERE,
            }),
            1 => {
                let name = self.point(0, false);
                let prologue = self.maybe(|this| this.block(false));
                let epilogue = match prologue.is_none() || self.flag() {
                    true => Some(self.block(false)),
                    false => None,
                };
                let points = self.list(1, |this| this.point(2, true));
                Item::Alias(Alias { name, points, prologue, epilogue, span: NOWHERE })
            }
            2 => Item::Global(Global {
                private: self.flag(),
                variables: self.list(1, Self::variable),
                span: NOWHERE,
            }),
            3 => Item::Function(self.function()),
            _ => Item::EmbeddedC(EmbeddedC { code: self.code(), span: NOWHERE }),
        }
    }

    fn variable(&mut self) -> GlobalVariable {
        let size = self.maybe(|this| 1 + this.below(5) as u32);
        let init = if size.is_none() { self.maybe(Self::literal) } else { None };
        GlobalVariable { name: self.ident(), wrap: self.flag(), size, init, span: NOWHERE }
    }

    fn ty(&mut self) -> Type {
        self.pick(&[Type::Long, Type::String])
    }

    fn function(&mut self) -> Function {
        let mut params: Vec<Param> = Vec::new();
        for name in ["p", "q", "r"] {
            if self.flag() {
                let name = Ident { name: name.to_owned(), span: NOWHERE };
                params.push(Param { name, ty: self.maybe(Self::ty), span: NOWHERE });
            }
        }
        let body = match self.flag() {
            false => FunctionBody::Block(self.block(true)),
            true => FunctionBody::EmbeddedC(EmbeddedC { code: self.code(), span: NOWHERE }),
        };
        Function {
            name: self.ident(),
            private: self.flag(),
            result: self.maybe(Self::ty),
            params,
            priority: self.maybe(|this| 1 + this.below(9) as i64),
            body,
            span: NOWHERE,
        }
    }

    /// A probe point with this many levels of alternatives; `?`, `!` and conditions stand only at
    /// its end.
    fn point(&mut self, levels: u32, end: bool) -> ProbePoint {
        let mut components = self.list(1, Self::functor);
        let mut flags = end;
        if levels > 0 && self.below(4) == 3 {
            let last = self.flag();
            let flagged = end && last && self.flag();
            let points = self.list(1, |this| this.point(levels - 1, flagged));
            let alternatives = Component::Alternatives { points, span: NOWHERE };
            if last {
                flags = end && !flagged;
                components.push(alternatives);
            } else {
                components.insert(0, alternatives);
            }
        }
        let optional = flags && self.flag();
        ProbePoint {
            components,
            optional,
            sufficient: optional && self.flag(),
            condition: if flags { self.maybe(Self::expr) } else { None },
            span: NOWHERE,
        }
    }

    fn functor(&mut self) -> Component {
        let names = ["begin", "kernel", "*", "sys*open", "**", "if", "return", "x$y"];
        let name = Ident { name: self.pick(&names).to_owned(), span: NOWHERE };
        Component::Functor(Functor { name, arg: self.maybe(Self::literal), span: NOWHERE })
    }

    // -------------------------------------------------------------- Statements

    fn block(&mut self, function: bool) -> Block {
        let statements = match self.room {
            0 => Vec::new(),
            _ => self.nested(|this| this.list(0, |this| this.statement(function))),
        };
        Block { statements, span: NOWHERE }
    }

    fn nested<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.room -= 1;
        let made = make(self);
        self.room += 1;
        made
    }

    fn statement(&mut self, function: bool) -> Stmt {
        if self.room == 0 {
            return Stmt { kind: StmtKind::Next, span: NOWHERE };
        }
        let kind = self.nested(|this| this.statement_kind(function));
        Stmt { kind, span: NOWHERE }
    }

    fn boxed_statement(&mut self, function: bool) -> Box<Stmt> {
        Box::new(self.statement(function))
    }

    fn statement_kind(&mut self, function: bool) -> StmtKind {
        match self.below(13) {
            0 => StmtKind::Expr(self.boxed()),
            1 => StmtKind::Null,
            2 => StmtKind::Block(self.block(function)),
            3 => {
                let condition = self.boxed();
                let otherwise = self.maybe(|this| this.boxed_statement(function));
                let mut then = self.boxed_statement(function);
                if otherwise.is_some() && takes_else(&then) {
                    let block = Block { statements: vec![*then], span: NOWHERE };
                    then = Box::new(Stmt { kind: StmtKind::Block(block), span: NOWHERE });
                }
                StmtKind::If { condition, then, otherwise }
            }
            4 => StmtKind::While { condition: self.boxed(), body: self.boxed_statement(function) },
            5 => StmtKind::For {
                init: self.maybe(Self::boxed),
                condition: self.maybe(Self::boxed),
                step: self.maybe(Self::boxed),
                body: self.boxed_statement(function),
            },
            6 => StmtKind::Foreach(Box::new(self.foreach(function))),
            7 if function => StmtKind::Return(self.maybe(Self::boxed)),
            8 => StmtKind::Delete(self.boxed()),
            9 => StmtKind::Break,
            10 => StmtKind::Continue,
            11 => StmtKind::Try(Box::new(Try {
                body: self.block(function),
                variable: self.maybe(Self::ident),
                handler: self.block(function),
            })),
            _ => StmtKind::Next,
        }
    }

    fn foreach(&mut self, function: bool) -> Foreach {
        let keys = self.list(1, Self::ident);
        let by = match self.below(3) {
            0 => SortBy::Key(self.below(keys.len())),
            1 => SortBy::Value(None),
            _ => SortBy::Value(Some(self.stat_op())),
        };
        Foreach {
            value: self.maybe(Self::ident),
            keys,
            over: self.indexable(),
            slice: self.maybe(|this| this.list(1, Self::key)),
            sort: self.maybe(|this| Sort { by, descending: this.flag() }),
            limit: self.maybe(Self::expr),
            body: self.statement(function),
        }
    }

    // ------------------------------------------------------------- Expressions

    fn expr(&mut self) -> Expr {
        let kind = match self.room {
            0 => ExprKind::Name(self.word()),
            _ => self.nested(Self::expr_kind),
        };
        Expr::new(kind, NOWHERE)
    }

    fn boxed(&mut self) -> Box<Expr> {
        Box::new(self.expr())
    }

    fn stat_op(&mut self) -> StatOp {
        use StatOp::*;
        self.pick(&[Count, Sum, Min, Max, Avg, Variance])
    }

    fn space(&mut self) -> Space {
        self.pick(&[Space::Kernel, Space::User])
    }

    fn key(&mut self) -> Key {
        match self.below(3) {
            2 => Key::Any(NOWHERE),
            _ => Key::Expr(self.expr()),
        }
    }

    fn indexable(&mut self) -> Indexable {
        match self.below(3) {
            2 => Indexable::Histogram(Box::new(self.histogram())),
            _ => Indexable::Array(self.ident()),
        }
    }

    fn histogram(&mut self) -> Histogram {
        let kind = match self.flag() {
            false => HistogramKind::Log,
            true => HistogramKind::Linear {
                start: self.number(),
                stop: self.number(),
                interval: self.number(),
            },
        };
        Histogram { kind, target: self.expr(), span: NOWHERE }
    }

    fn expr_kind(&mut self) -> ExprKind {
        match self.below(24) {
            0 => ExprKind::Name(self.word()),
            1 => ExprKind::Number(self.number()),
            2 => ExprKind::String(self.bytes()),
            3 => ExprKind::EmbeddedC(self.code()),
            4 => ExprKind::Call { name: self.ident(), args: self.list(0, Self::expr) },
            5 => ExprKind::Index { base: self.indexable(), keys: self.list(1, Self::key) },
            6 => ExprKind::In { keys: self.list(1, Self::key), array: self.indexable() },
            7 => {
                use UnaryOp::*;
                let op = self.pick(&[Plus, Negate, Not, Complement]);
                ExprKind::Unary { op, operand: self.boxed() }
            }
            8 => {
                let op = self.pick(&[CrementOp::Increment, CrementOp::Decrement]);
                ExprKind::Crement { op, prefix: self.flag(), target: self.boxed() }
            }
            9..=11 => self.binary(),
            12 => ExprKind::Match {
                subject: self.boxed(),
                pattern: self.string(),
                negated: self.flag(),
            },
            13 => ExprKind::Ternary {
                condition: self.boxed(),
                then: self.boxed(),
                otherwise: self.boxed(),
            },
            14 => self.assign(),
            15 => ExprKind::Defined(self.boxed()),
            16 => ExprKind::Entry(self.boxed()),
            17 => self.named(),
            18 => {
                let op = self.stat_op();
                let shift = match op {
                    StatOp::Variance => self.maybe(Self::number),
                    _ => None,
                };
                ExprKind::Stat { op, target: self.boxed(), shift }
            }
            19 => {
                ExprKind::Deref { space: self.space(), size: self.number(), address: self.boxed() }
            }
            20 => ExprKind::Print(Box::new(self.print())),
            _ => ExprKind::Target(Box::new(self.target())),
        }
    }

    fn named(&mut self) -> ExprKind {
        match self.below(6) {
            0 => ExprKind::Perf(self.string()),
            1 => ExprKind::Const(self.string()),
            2 => ExprKind::Enum(self.string()),
            3 => ExprKind::ProbeWrite(self.ident()),
            4 => ExprKind::Register { space: self.space(), register: self.literal() },
            _ => {
                let type_name = self.maybe(Self::string);
                let module = if type_name.is_some() { self.maybe(Self::string) } else { None };
                ExprKind::EnumName(Box::new(EnumName { value: self.expr(), type_name, module }))
            }
        }
    }

    fn binary(&mut self) -> ExprKind {
        use BinaryOp::*;
        let op = self.pick(&[
            Multiply,
            Divide,
            Modulo,
            Add,
            Subtract,
            Concat,
            ShiftLeft,
            ShiftRight,
            ShiftRightLogical,
            Less,
            LessEqual,
            Greater,
            GreaterEqual,
            Equal,
            NotEqual,
            BitAnd,
            BitXor,
            BitOr,
            And,
            Or,
        ]);
        ExprKind::Binary { op, left: self.boxed(), right: self.boxed() }
    }

    fn assign(&mut self) -> ExprKind {
        use AssignOp::*;
        let op = self.pick(&[
            Set, Multiply, Divide, Modulo, Add, Subtract, Concat, ShiftLeft, ShiftRight, BitAnd,
            BitXor, BitOr, Aggregate,
        ]);
        ExprKind::Assign { op, target: self.boxed(), value: self.boxed() }
    }

    fn target(&mut self) -> Target {
        let mut address_of = self.flag();
        let mut path = self.list(0, |this| match this.flag() {
            false => Access::Field(this.ident()),
            true => Access::Index(this.expr()),
        });
        let pretty = self.maybe(|this| this.pick(&[Pretty::Shallow, Pretty::Deep]));
        let base = match self.below(4) {
            0 => TargetBase::Symbol(Ident {
                name: self.pick(&["x", "return", "$vars", "", "$"]).to_owned(),
                span: NOWHERE,
            }),
            1 => TargetBase::Var { name: self.string(), module: self.maybe(Self::string) },
            2 => TargetBase::Cast {
                operand: self.boxed(),
                type_name: self.string(),
                module: self.maybe(Self::string),
            },
            _ => {
                let base = self.boxed();
                // Accesses and `&` in front of another target variable would be its own.
                if let ExprKind::Target(inner) = &base.kind {
                    if !inner.address_of && inner.pretty.is_none() {
                        return (**inner).clone();
                    }
                    address_of = false;
                }
                if path.is_empty() && pretty.is_none() && !address_of {
                    path.push(Access::Field(self.ident()));
                }
                TargetBase::Expr(base)
            }
        };
        Target { base, path, address_of, pretty }
    }

    fn print(&mut self) -> Print {
        let to_string = self.flag();
        match self.below(4) {
            0 => {
                let newline = self.flag();
                let args = self.list(usize::from(!newline), Self::expr);
                Print { to_string, newline, style: PrintStyle::Plain, args }
            }
            1 => {
                let histogram = ExprKind::Histogram(Box::new(self.histogram()));
                let args = vec![Expr::new(histogram, NOWHERE)];
                Print { to_string, newline: self.flag(), style: PrintStyle::Plain, args }
            }
            2 => {
                let style = PrintStyle::Delimited(self.string());
                Print { to_string, newline: self.flag(), style, args: self.list(2, Self::expr) }
            }
            _ => {
                let formats =
                    ["%d", "a%%b%-5s|%05.3x", "%*.*d\n", "%#c%.*M%4b", "%ld%p%i%u%o%X%m%+d% d", ""];
                let value = ByteString::from(self.pick(&formats));
                let pieces = format::parse(value.as_bytes()).expect("the formats are right");
                let format = StringLit { value, span: NOWHERE };
                let style = PrintStyle::Formatted { format, pieces };
                Print { to_string, newline: false, style, args: self.list(0, Self::expr) }
            }
        }
    }
}

/// Whether an `else` behind the statement would belong to an `if` in it.
fn takes_else(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::If { otherwise: None, .. } => true,
        StmtKind::If { otherwise: Some(body), .. }
        | StmtKind::While { body, .. }
        | StmtKind::For { body, .. } => takes_else(body),
        StmtKind::Foreach(foreach) => takes_else(&foreach.body),
        _ => false,
    }
}

fn parse(text: &str) -> Result<File, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("generated", text);
    let environment = Environment { guru_mode: true, ..Environment::default() };
    let macros = LibraryMacros::new();
    let options =
        ParseOptions { environment: &environment, macros: &macros, args: &[], library: false };
    let (mut tree, diagnostics) = parse_script(&mut sources, file, &options);
    tree.erase_spans();
    match diagnostics.is_empty() {
        true => Ok(tree),
        false => Err(render(&sources, &diagnostics, false)),
    }
}

/// The generator has to make every construct, or the properties below say less than they seem to.
#[test]
fn every_construct_is_generated() {
    let mut coverage = Coverage::new();
    let mut state: u64 = 1;
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..200)
            .map(|_| {
                // G. Marsaglia, "Xorshift RNGs", 2003.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        coverage.add(&Choices { bytes: &bytes, room: 8 }.file());
    }
    assert_eq!(coverage.missing(), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_parse_to_themselves(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let tree = Choices { bytes: &bytes, room: 12 }.file();
        let text = print(&tree);
        match parse(&text) {
            Ok(again) => prop_assert_eq!(again, tree, "\n{}", text),
            Err(errors) => prop_assert!(false, "{}\n{}", text, errors),
        }
    }

    #[test]
    fn printing_is_stable(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = print(&Choices { bytes: &bytes, room: 6 }.file());
        let again = parse(&text).map(|tree| print(&tree));
        prop_assert_eq!(again, Ok(text));
    }
}
