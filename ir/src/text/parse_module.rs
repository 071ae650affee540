//! Parses modules: everything outside of bodies.

use indexmap::IndexMap;

use super::ParseError;
use super::lexer::{Token, tokenize};
use super::parser::{Parse, Parser};
use crate::effects::{Effects, Invariance};
use crate::entities::{Entity, Handler};
use crate::module::{
    CText, FunctionCode, FunctionData, HandlerData, Module, Period, ProbeKind, ProbePoint,
};
use crate::types::{Discipline, ElementType, GlobalData, Histogram, Pos};

/// Reads the text form of a module. Whether the module makes sense is the verifier's business.
///
/// # Errors
/// The first thing in the text that is not as the form has it, with its place.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser {
        tokens: tokenize(text)?,
        at: 0,
        module: Module::default(),
        globals: IndexMap::new(),
        functions: IndexMap::new(),
    };
    parser.declare_names()?;
    while *parser.peek() != Token::End {
        parser.item()?;
    }
    parser.check_handlers()?;
    Ok(parser.module)
}

impl Parser {
    /// Finds the globals and functions, so that uses may come before declarations.
    fn declare_names(&mut self) -> Parse<()> {
        for at in 1..self.tokens.len() {
            let first = at == 1 || self.tokens[at - 2].token == Token::Newline;
            let (Token::Word(word), Token::At(name)) =
                (&self.tokens[at - 1].token, &self.tokens[at].token)
            else {
                continue;
            };
            let names = match word.as_str() {
                "global" if first => &mut self.globals,
                "function" if first => &mut self.functions,
                _ => continue,
            };
            if names.insert(name.clone(), ()).is_some() {
                return self.error_at(at, format!("there are two `@{name}`"));
            }
        }
        Ok(())
    }

    fn item(&mut self) -> Parse<()> {
        let at = self.at;
        match self.word("an item")?.as_str() {
            "file" => self.file(),
            "limits" => self.limits(),
            "preamble" => {
                let text = self.text("C text")?;
                let pos = self.pos()?;
                self.module.preamble.push(CText { text, pos });
                self.end_of_line()
            }
            "regex" => {
                let index = self.module.regexes.len();
                self.in_order("re", index)?;
                let pattern = self.bytes("a regular expression")?;
                self.module.regexes.alloc(pattern.into());
                self.end_of_line()
            }
            "global" => self.global_item(),
            "probe" => self.probe(),
            "function" => self.function_item(),
            "handler" => self.handler_item(),
            word => self.error_at(at, format!("`{word}` starts no item")),
        }
    }

    /// An entity that must have the next number.
    fn in_order(&mut self, prefix: &str, index: usize) -> Parse<()> {
        if self.entity_index(prefix) == Some(index) {
            self.at += 1;
            return Ok(());
        }
        self.expected(&format!("`{prefix}{index}`"))
    }

    fn file(&mut self) -> Parse<()> {
        let index = self.module.files.len();
        self.in_order("f", index)?;
        let path = self.text("a path")?;
        self.module.files.alloc(path);
        self.end_of_line()
    }

    fn limits(&mut self) -> Parse<()> {
        while let Token::Word(_) = self.peek() {
            let at = self.at;
            let name = self.word("a limit")?;
            self.expect('=')?;
            let value: u32 = self.int("a number")?;
            let limits = &mut self.module.limits;
            match name.as_str() {
                "max_string_len" => limits.max_string_len = value,
                "max_map_entries" => limits.max_map_entries = value,
                "max_action" => limits.max_action = value,
                "max_action_interruptible" => limits.max_action_interruptible = value,
                "max_nesting" => limits.max_nesting = Some(value),
                "max_errors" => limits.max_errors = value,
                "max_skipped" => limits.max_skipped = value,
                _ => return self.error_at(at, format!("there is no limit `{name}`")),
            }
        }
        self.end_of_line()
    }

    fn global_item(&mut self) -> Parse<()> {
        let name = self.at_name("the global's name")?;
        let keys = match self.peek() {
            Token::Punct('[') => self.list('[', ']', Self::ty)?,
            _ => Vec::new(),
        };
        self.expect(':')?;
        let element = self.element_type()?;
        let init = if self.eat('=') { Some(self.constant()?) } else { None };
        let mut data = GlobalData {
            name,
            max_entries: if keys.is_empty() { 0 } else { self.module.limits.max_map_entries },
            keys,
            element,
            init,
            wrap: false,
            parameter: false,
            histogram: None,
            discipline: Discipline::Locked,
            pos: None,
        };
        while let Token::Word(_) = self.peek() {
            self.global_attribute(&mut data)?;
        }
        data.pos = self.pos()?;
        self.module.globals.alloc(data);
        self.end_of_line()
    }

    fn element_type(&mut self) -> Parse<ElementType> {
        if self.eat_word("stat") {
            return Ok(ElementType::Stat);
        }
        if self.eat_word("long") {
            return Ok(ElementType::Long);
        }
        if self.eat_word("str") {
            return Ok(ElementType::Str(self.bound()?));
        }
        self.expected("`long`, `str` or `stat`")
    }

    fn global_attribute(&mut self, data: &mut GlobalData) -> Parse<()> {
        let at = self.at;
        match self.word("an attribute")?.as_str() {
            "max" => {
                self.expect('=')?;
                data.max_entries = self.int("a number")?;
            }
            "wrap" => data.wrap = true,
            "parameter" => data.parameter = true,
            "hist" => {
                self.expect('=')?;
                data.histogram = Some(self.histogram()?);
            }
            "with" => {
                self.expect('=')?;
                let leader = self.global()?;
                data.discipline = match data.discipline {
                    Discipline::Sharded => Discipline::ShardedLockedWith(leader),
                    _ => Discipline::LockedWith(leader),
                };
            }
            "serial" => data.discipline = Discipline::Serial,
            "lone" => data.discipline = Discipline::Lone,
            "sharded" => data.discipline = Discipline::Sharded,
            "locked" if data.discipline == Discipline::Sharded => {
                data.discipline = Discipline::ShardedLocked;
            }
            word => return self.error_at(at, format!("`{word}` is no attribute of a global")),
        }
        Ok(())
    }

    fn histogram(&mut self) -> Parse<Histogram> {
        if self.eat_word("log") {
            return Ok(Histogram::Log);
        }
        if !self.eat_word("linear") {
            return self.expected("`log` or `linear`");
        }
        let at = self.at;
        match self.list('(', ')', |p| p.int("a number"))?[..] {
            [low, high, width] => Ok(Histogram::Linear { low, high, width }),
            _ => self.error_at(at, "expected `(low, high, width)`"),
        }
    }

    fn probe(&mut self) -> Parse<()> {
        let kind = self.probe_kind()?;
        let mut probe = ProbePoint {
            name: kind.to_string(),
            written: kind.to_string(),
            kind,
            handler: Handler::from_index(0),
            record: Vec::new(),
            places: Vec::new(),
            optional: false,
            pos: None,
        };
        if self.eat_word("name") {
            self.expect('=')?;
            probe.name = self.text("a probe point")?;
        }
        if self.eat_word("written") {
            self.expect('=')?;
            probe.written = self.text("a probe point")?;
        }
        if self.next() != Token::Arrow {
            self.at -= 1;
            return self.expected("`->`");
        }
        probe.handler = self.handler_name()?;
        if *self.peek() == Token::Punct('(') {
            probe.record = self.list('(', ')', Self::constant)?;
        }
        probe.places = self.positions("places")?;
        probe.optional = self.eat_word("optional");
        probe.pos = self.pos()?;
        self.module.probes.push(probe);
        self.end_of_line()
    }

    fn probe_kind(&mut self) -> Parse<ProbeKind> {
        let at = self.at;
        Ok(match self.word("a probe point")?.as_str() {
            "begin" => ProbeKind::Begin(self.int_argument()?),
            "end" => ProbeKind::End(self.int_argument()?),
            "error" => ProbeKind::Error(self.int_argument()?),
            "never" => ProbeKind::Never,
            "timer.profile" => ProbeKind::Profile,
            "timer.jiffies" => {
                let period = Period::Jiffies(self.int_argument()?);
                ProbeKind::Timer { period, randomize: self.randomize()? }
            }
            "timer.ns" => {
                let period = Period::Nanoseconds(self.int_argument()?);
                ProbeKind::Timer { period, randomize: self.randomize()? }
            }
            "kernel.trace" => ProbeKind::Tracepoint(self.text_argument()?),
            "kprobe.function" => {
                let function = self.text_argument()?;
                if self.eat_word(".return.maxactive") {
                    ProbeKind::Kretprobe(function, Some(self.int_argument()?))
                } else if self.eat_word(".return") {
                    ProbeKind::Kretprobe(function, None)
                } else {
                    ProbeKind::Kprobe(function)
                }
            }
            word => return self.error_at(at, format!("there is no probe point `{word}`")),
        })
    }

    fn randomize(&mut self) -> Parse<u64> {
        if self.eat_word(".randomize") { self.int_argument() } else { Ok(0) }
    }

    fn text_argument(&mut self) -> Parse<String> {
        self.expect('(')?;
        let text = self.text("a name in quotes")?;
        self.expect(')')?;
        Ok(text)
    }

    fn handler_name(&mut self) -> Parse<Handler> {
        let at = self.at;
        let name = self.at_name("a handler")?;
        let index = name.strip_prefix('h').and_then(|digits| digits.parse::<u32>().ok());
        match index {
            Some(index) => Ok(Handler::from_index(index as usize)),
            None => self.error_at(at, format!("`@{name}` is not the name of a handler")),
        }
    }

    fn handler_item(&mut self) -> Parse<()> {
        let at = self.at;
        let handler = self.handler_name()?;
        if handler.index() != self.module.handlers.len() {
            let next = self.module.handlers.len();
            return self.error_at(at, format!("expected `@h{next}`: handlers come in order"));
        }
        let record =
            if self.eat_word("record") { self.list('(', ')', Self::ty)? } else { Vec::new() };
        let places = self.positions("places")?;
        let pos = self.pos()?;
        let body = self.body()?;
        self.module.handlers.alloc(HandlerData { body, record, places, pos });
        Ok(())
    }

    /// `places(@f0:1:2, …)` or another word with positions, if it is there.
    fn positions(&mut self, word: &str) -> Parse<Vec<Pos>> {
        if !self.eat_word(word) {
            return Ok(Vec::new());
        }
        self.list('(', ')', |p| match p.pos()? {
            Some(pos) => Ok(pos),
            None => p.expected("a position"),
        })
    }

    fn function_item(&mut self) -> Parse<()> {
        let name = self.at_name("the function's name")?;
        let mut names = Vec::new();
        let at = self.at;
        let params = self.list('(', ')', |p| {
            let named = p.tokens.get(p.at + 1).is_some_and(|t| t.token == Token::Punct(':'));
            if named {
                names.push(match p.peek() {
                    Token::Str(_) => p.text("a name")?,
                    _ => p.word("a name")?,
                });
                p.expect(':')?;
            }
            p.ty()
        })?;
        let result = if *self.peek() == Token::Arrow {
            self.at += 1;
            Some(self.ty()?)
        } else {
            None
        };
        let (mut places, mut variants) = (Vec::new(), Vec::new());
        let (code, pos) = if self.eat('=') {
            if names.len() != params.len() {
                return self.error_at(at, "the parameters of a C function have names");
            }
            if !self.eat_word("c") {
                return self.expected("`c`");
            }
            let text = self.text("C text")?;
            let effects = self.effects()?;
            let pos = self.pos()?;
            self.end_of_line()?;
            (FunctionCode::C { text, names, effects }, pos)
        } else {
            if !names.is_empty() {
                return self.error_at(at, "the parameters have names in the entry block only");
            }
            places = self.positions("places")?;
            while *self.peek() == Token::Word("variant".into()) {
                variants.push(self.positions("variant")?);
            }
            let pos = self.pos()?;
            (FunctionCode::Body(self.body()?), pos)
        };
        let data = FunctionData { name, params, result, code, places, variants, pos };
        self.module.functions.alloc(data);
        Ok(())
    }

    fn effects(&mut self) -> Parse<Effects> {
        let mut effects = Effects::default();
        while let Token::Word(word) = self.peek().clone() {
            self.at += 1;
            match word.as_str() {
                "reads" => effects.reads.extend(self.list('(', ')', Self::global)?),
                "writes" => effects.writes.extend(self.list('(', ')', Self::global)?),
                "raises" => effects.raises = true,
                "aborts" => effects.aborts = true,
                "acts" => effects.acts = true,
                "exits" => effects.exits = true,
                "advances" => effects.advances = true,
                "invariant" => effects.invariance = Invariance::Handler,
                "volatile" => effects.invariance = Invariance::Volatile,
                _ => return self.error_at(self.at - 1, format!("`{word}` is no effect")),
            }
        }
        Ok(effects)
    }

    /// Every probe point's handler must exist.
    fn check_handlers(&self) -> Parse<()> {
        for probe in &self.module.probes {
            if self.module.handlers.get(probe.handler).is_none() {
                return self
                    .error(format!("probe `{}` names no handler: {}", probe.name, probe.handler));
            }
        }
        Ok(())
    }
}
