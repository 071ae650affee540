//! The page of `--explore` in a real browser: what clicks, keys and the mouse do, and how it looks.

mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use browser::Browser;
use serde_json::json;

/// A loop, branches, a function that is inlined, globals of several kinds, text that looks like HTML.
const SCRIPT: &str = r#"// <b>not bold</b> & </script>
global hits, mask = 3, slow, names

function scaled(n) { return n * 2 + 1 }

probe timer.profile {
    if (pid() > 10) {
        hits += cpu() & mask
        names[execname()] = scaled(tid())
    } else
        slow++
}

probe timer.s(1) {
    foreach (name+ in names limit 5)
        printf("%s %d %d\n", name, names[name], hits)
    hits = 0
    delete names
}

probe end { println(slow) }
"#;

fn xlate(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_xlate")).args(words).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{words:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

struct Explorer {
    browser: Browser,
    folder: PathBuf,
    script: String,
    /// Names and pictures of what was looked at.
    pictures: Vec<(&'static str, String)>,
}

/// The rows of a panel that a selector matches, as an expression.
fn rows(selector: &str) -> String {
    format!(
        "[...document.querySelectorAll('{selector}')].map((row) => row.querySelector('.text').textContent)"
    )
}

impl Explorer {
    fn open() -> Explorer {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explore");
        fs::create_dir_all(&folder).expect("a folder");
        let (script, page) = (folder.join("shared.stp"), folder.join("page.html"));
        fs::write(&script, SCRIPT).expect("written");
        let script = script.to_string_lossy().into_owned();
        assert_eq!(xlate(&["--explore", &page.to_string_lossy(), &script]), "");
        let mut browser = Browser::start(1600, 1000);
        browser.open(&format!("file://{}", page.display()));
        Explorer { browser, folder, script, pictures: Vec::new() }
    }

    /// The texts of rows.
    fn texts(&mut self, selector: &str) -> Vec<String> {
        let value = self.browser.evaluate(&rows(selector));
        let list = value.as_array().expect("a list").iter();
        list.map(|text| text.as_str().expect("a text").to_owned()).collect()
    }

    fn text(&mut self, id: &str) -> String {
        self.browser.text(&format!("document.getElementById('{id}').innerText"))
    }

    /// Clicks on the first row of a panel whose text has a part.
    fn click_row(&mut self, panel: &str, part: &str) {
        self.browser.click(&row(panel, part));
    }

    /// Picks a handler by a part of its name, as a person does with the keyboard.
    fn pick(&mut self, part: &str) {
        let wanted = self.browser.evaluate(&format!(
            "[...document.querySelectorAll('#unit option')].findIndex((o) => o.text.includes('{part}'))"
        ));
        let wanted = wanted.as_i64().expect("a number");
        self.browser.evaluate("document.getElementById('unit').focus()");
        for _ in 0..30 {
            let now = self.browser.evaluate("document.getElementById('unit').selectedIndex");
            match now.as_i64().expect("a number").cmp(&wanted) {
                std::cmp::Ordering::Less => self.browser.press("ArrowDown", 40),
                std::cmp::Ordering::Greater => self.browser.press("ArrowUp", 38),
                std::cmp::Ordering::Equal => return,
            }
        }
        panic!("`{part}` cannot be picked");
    }

    fn blocks_drawn(&mut self) -> u64 {
        let count = self.browser.evaluate("document.querySelectorAll('#flow .block').length");
        count.as_u64().expect("a number")
    }

    /// Takes a picture of the page.
    fn look(&mut self, name: &'static str) {
        let picture = self.browser.screenshot();
        self.pictures.push((name, picture));
    }

    /// The pictures are not blank. They stay in the folder for people to look at.
    fn there_was_much_to_see(&mut self) {
        for (name, picture) in std::mem::take(&mut self.pictures) {
            let (colours, most) = self.browser.colours(&picture);
            assert!(colours > 100 && most < 0.95, "{name}: {colours} colours, {most} of one");
            let text = self.folder.join(format!("{name}.base64"));
            fs::write(&text, picture).expect("written");
            let file = fs::File::create(self.folder.join(name)).expect("a file");
            let decoded = Command::new("base64").arg("-d").arg(&text).stdout(file).status();
            assert!(decoded.is_ok_and(|status| status.success()));
            fs::remove_file(text).expect("removed");
        }
    }

    fn begins_with_the_last_step(&mut self) {
        assert_eq!(self.browser.text("document.title"), format!("{} – xlate", self.script));
        let script = self.texts("#script .line");
        assert_eq!(script, SCRIPT.lines().collect::<Vec<_>>());
        let ir = xlate(&["--emit=ir", &self.script]);
        let shown = self.texts("#ir .line:not(.del)");
        assert!(shown.len() > 5 && shown[0].starts_with("handler @h0"), "{shown:?}");
        for line in shown.iter().filter(|line| !line.contains('{')) {
            assert!(ir.contains(line.as_str()), "{line} is in the IR:\n{ir}");
        }
        let c = xlate(&["--emit=c", &self.script]);
        assert_eq!(self.texts("#c .line:not(.del)"), c.lines().collect::<Vec<_>>());
        assert!(!c.contains("g_mask"), "the global is folded");
        let blocks = ir.split("handler @h0").nth(1).expect("a handler").split("\n}").next();
        let blocks = blocks.expect("a body").lines().filter(|line| line.starts_with('b')).count();
        assert_eq!(self.blocks_drawn(), blocks as u64);
        assert!(blocks >= 3, "the branch is drawn");
    }

    fn keys_and_buttons_step(&mut self) {
        let before = self.text("step");
        self.browser.press("ArrowLeft", 37);
        let earlier = self.text("step");
        assert_ne!(before, earlier);
        assert!(!self.texts("#ir .line.add, #ir .line.del").is_empty(), "{earlier}");
        self.browser.press("ArrowRight", 39);
        assert_eq!(self.text("step"), before);
        for _ in 0..40 {
            self.browser.click("document.getElementById('previous')");
        }
        assert!(self.text("step").starts_with("lowered (0 of "), "{}", self.text("step"));
        let ir = self.texts("#ir .line");
        let lowered = xlate(&["--emit=ir", "-O0", &self.script]);
        assert!(ir.iter().any(|line| line.contains("load @mask")), "{ir:?}");
        assert!(lowered.contains("load @mask"));
        let c = xlate(&["--emit=c", "-O0", &self.script]);
        assert_eq!(self.texts("#c .line"), c.lines().collect::<Vec<_>>(), "C of the same step");
        // The pass that folds the global, by a click on its name.
        let fold = "[...document.querySelectorAll('#steps button.changes')].find((b) => \
                    b.textContent.startsWith('global-constness'))";
        self.browser.click(fold);
        assert!(self.text("step").starts_with("global-constness ("));
        let gone = self.texts("#ir .line.del");
        assert!(gone.iter().any(|line| line.contains("load @mask")), "{gone:?}");
        assert!(self.texts("#ir .line.add").iter().any(|line| line.contains("const 3")));
        // All steps, not only those that change the handler.
        self.browser.click("document.getElementById('mine')");
        self.browser.click("document.getElementById('next')");
        assert!(self.text("step").starts_with("unused-globals ("), "{}", self.text("step"));
        assert_eq!(self.text("ir-note"), "2 added, 2 removed", "its lock goes with it");
        self.browser.click("document.getElementById('mine')");
    }

    fn lines_are_linked(&mut self) {
        // An address that names a line highlights it; one that names nothing shows the last step.
        self.browser.evaluate("location.hash = 'handler=0&step=0&line=0:11'");
        assert_eq!(self.texts("#script .line.hot"), ["        slow++"]);
        assert!(self.text("step").starts_with("lowered "));
        self.browser.evaluate("location.hash = ''");
        assert_eq!(self.texts(".line.hot"), Vec::<String>::new());
        self.click_row("script", "hits += cpu()");
        let ir = self.texts("#ir .line.hot");
        assert!(ir.iter().any(|line| line.contains("ctx.cpu")), "{ir:?}");
        assert!(!ir.iter().any(|line| line.contains("ctx.tid")), "{ir:?}");
        let c = self.texts("#c .line.hot");
        assert!(c.iter().any(|line| line.contains("xl_ctx_cpu(c)")), "{c:?}");
        // Back: from C to the script and the IR.
        self.browser.press("Escape", 27);
        assert_eq!(self.texts(".line.hot"), Vec::<String>::new());
        self.click_row("c", "xl_ctx_tid(c)");
        assert!(self.browser.text("location.hash").ends_with("&line=0:9"));
        assert_eq!(self.texts("#script .line.hot"), ["        names[execname()] = scaled(tid())"]);
        assert!(self.texts("#ir .line.hot").iter().any(|line| line.contains("ctx.tid")));
        // From IR, by keyboard: the line below.
        self.click_row("ir", "ctx.pid");
        assert_eq!(self.texts("#script .line.hot"), ["    if (pid() > 10) {"]);
        self.browser.press("End", 35);
        self.browser.press("Home", 36);
        let active = self.texts("#ir .line.active");
        assert!(active[0].starts_with("handler @h"), "{active:?}");
        assert_eq!(self.texts("#script .line.hot"), ["probe timer.profile {"]);
        // The mouse shows links without keeping them.
        self.browser.press("Escape", 27);
        self.browser.point_at(&row("script", "slow++"));
        assert!(self.texts("#c .line.hot").iter().any(|line| line.contains("g_slow")));
        self.browser.point_at("document.querySelector('h1')");
        assert_eq!(self.texts(".line.hot"), Vec::<String>::new());
    }

    fn remarks_stand_at_their_lines(&mut self) {
        let said = self.browser.text(
            "[...document.querySelectorAll('#script .line')].find((row) => \
             row.textContent.includes('mask = 3')).nextElementSibling.innerText",
        );
        assert!(said.contains("mask is the constant 3"), "{said}");
        self.browser.click("document.getElementById('tab-remarks')");
        let count = "document.querySelectorAll('#remarks li').length";
        let all = self.browser.evaluate(count).as_u64().expect("a number");
        let remarks = json_remarks(&self.script);
        assert_eq!(all, remarks.len() as u64);
        self.browser.click("document.querySelector('#remarks [data-kind=applied]')");
        let applied = remarks.iter().filter(|line| line.contains("\"kind\":\"applied\"")).count();
        assert!(applied > 0);
        assert_eq!(self.browser.evaluate(count), json!(all - applied as u64));
        // A position in a remark leads to the script.
        self.browser.click("document.querySelector('#remarks li .place')");
        assert_eq!(self.texts("#script .line.hot").len(), 1);
    }

    fn the_plan_is_a_table(&mut self) {
        self.browser.evaluate("document.getElementById('tab-flow').focus()");
        self.browser.press("ArrowRight", 39);
        let shown = self.browser.evaluate("!document.getElementById('plan').hidden");
        assert_eq!(shown, json!(true), "the arrow key changes the tab");
        let plan = self.text("plan");
        let globals = xlate(&["--emit=ir", &self.script]);
        let globals: Vec<&str> = globals
            .lines()
            .filter_map(|line| line.strip_prefix("global @")?.split([':', '[']).next())
            .collect();
        assert!(globals.contains(&"hits") && !globals.contains(&"mask"), "{globals:?}");
        for name in &globals {
            assert!(plan.contains(name), "{name}: {plan}");
        }
        let cells = self.browser.evaluate("document.querySelectorAll('#plan tbody td').length");
        // The discipline and a cell for each of the three handlers.
        assert_eq!(cells, json!(globals.len() * 4));
        assert!(plan.contains("runs alone") && plan.contains("lock"), "{plan}");
        self.look("plan.png");
        // A handler's name leads to it.
        self.browser.click(
            "[...document.querySelectorAll('#plan th button')].find((b) => b.textContent === 'timer.s(1)')",
        );
        assert_eq!(
            self.browser.text("document.getElementById('unit').selectedOptions[0].text"),
            "timer.s(1)"
        );
    }

    fn control_flow_is_drawn(&mut self) {
        self.browser.click("document.getElementById('tab-flow')");
        self.pick("timer.s(1)");
        assert!(self.blocks_drawn() >= 4, "a loop with its exit");
        let inside = self.browser.evaluate(
            "(() => { const boxes = [...document.querySelectorAll('#flow .block rect')].map((r) => \
             r.getBoundingClientRect()); return boxes.every((a, n) => boxes.slice(n + 1).every((b) => \
             a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top)); })()",
        );
        assert_eq!(inside, json!(true), "blocks do not overlap");
        self.browser.click("document.querySelectorAll('#flow .block')[1]");
        assert!(!self.texts("#script .line.hot").is_empty());
        self.look("light.png");
    }

    fn it_can_be_dark(&mut self) {
        let ground = "getComputedStyle(document.body).backgroundColor";
        let light = self.browser.text(ground);
        let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        self.browser.call("Emulation.setEmulatedMedia", dark);
        let by_system = self.browser.text(ground);
        assert_ne!(by_system, light);
        self.look("dark.png");
        self.browser.click("document.getElementById('theme')");
        assert_eq!(self.text("theme"), "Theme: light");
        assert_eq!(self.browser.text(ground), light);
        self.browser.click("document.getElementById('theme')");
        assert_eq!(self.browser.text(ground), by_system);
    }

    /// Everything that can be used has a name for those who cannot see it.
    fn everything_has_a_name(&mut self) {
        let tree = self.browser.call("Accessibility.getFullAXTree", json!({}));
        let used =
            ["button", "combobox", "checkbox", "tab", "tabpanel", "listbox", "option", "table"];
        let mut seen = 0;
        for node in tree["nodes"].as_array().expect("nodes") {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            if used.contains(&role) && node["ignored"] != true {
                let name = node["name"]["value"].as_str().unwrap_or_default();
                assert!(!name.trim().is_empty(), "{node}");
                seen += 1;
            }
        }
        assert!(seen > 50, "{seen} nodes");
    }

    /// A page of a script with nothing to say, on a small screen: no passes, globals or remarks.
    fn a_page_can_be_empty(&mut self) {
        let page = self.folder.join("empty.html");
        let page = page.to_string_lossy();
        assert_eq!(xlate(&["-O0", "--explore", &page, "-e", "probe begin { exit() }"]), "");
        let small = json!({ "width": 800, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.browser.call("Emulation.setDeviceMetricsOverride", small);
        self.browser.open(&format!("file://{page}"));
        assert_eq!(self.text("step"), "lowered (0 of 0)");
        assert_eq!(self.text("title"), "<command line>");
        for button in ["previous", "next"] {
            let off = format!("document.getElementById('{button}').disabled");
            assert_eq!(self.browser.evaluate(&off), json!(true));
        }
        self.browser.press("ArrowRight", 39);
        assert_eq!(self.blocks_drawn(), 1);
        for (tab, text) in [("plan", "No global is left."), ("remarks", "had nothing to say")] {
            self.browser.click(&format!("document.getElementById('tab-{tab}')"));
            assert!(self.text(tab).contains(text), "{}", self.text(tab));
        }
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(self.browser.evaluate(fits), json!(true), "nothing is cut off at the side");
        self.look("small.png");
    }

    /// The two files are all that was asked for, and nothing went wrong.
    fn nothing_else_was_loaded(&mut self) {
        let asked: Vec<String> = self
            .browser
            .events("Network.requestWillBeSent")
            .iter()
            .map(|event| event["params"]["request"]["url"].to_string())
            .collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
        for problem in ["Runtime.exceptionThrown", "Log.entryAdded"] {
            assert_eq!(self.browser.events(problem), Vec::<&serde_json::Value>::new());
        }
    }
}

/// The first row of a panel whose text has a part, as an expression.
fn row(panel: &str, part: &str) -> String {
    format!(
        "[...document.querySelectorAll('#{panel} .line:not(.del)')].find((row) => \
         row.textContent.includes('{part}'))"
    )
}

/// What `--remarks=json` prints.
fn json_remarks(script: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_xlate"))
        .args(["--emit=ir", "--remarks=json", script])
        .output()
        .expect("it runs");
    String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()
}

/// One browser for all of it: it takes longer to start than to ask.
#[test]
fn the_explorer_works_in_a_browser() {
    let mut explorer = Explorer::open();
    explorer.begins_with_the_last_step();
    explorer.keys_and_buttons_step();
    explorer.lines_are_linked();
    explorer.remarks_stand_at_their_lines();
    explorer.the_plan_is_a_table();
    explorer.control_flow_is_drawn();
    explorer.it_can_be_dark();
    explorer.everything_has_a_name();
    explorer.a_page_can_be_empty();
    explorer.nothing_else_was_loaded();
    explorer.there_was_much_to_see();
}
