//! A headless Chromium, driven over a pipe with the DevTools protocol.
//!
//! `--remote-debugging-pipe` makes the browser read messages from file descriptor 3 and write them to
//! 4, each ended by a NUL; a shell moves the child's standard input and output there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long the browser may take, all in all. A busy machine starts it in a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The name of the program, which is that of Debian's package.
const CHROMIUM: &str = "chromium";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    /// Another page, which looks at pictures of the first one.
    viewer: Option<String>,
    calls: u64,
    /// When it must be done.
    deadline: Instant,
    /// What the browser reported unasked.
    events: Vec<Value>,
    /// Keeps the profile as long as the browser runs.
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a window of this size, and an empty page.
    pub(crate) fn start(width: u32, height: u32) -> Browser {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {CHROMIUM}")])
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        assert!(
            found,
            "there is no `{CHROMIUM}`: `./check packages` installs it, as does, on Debian as root, \
             `apt-get install --no-install-recommends chromium`"
        );
        let profile = TempDir::new().expect("a folder for the profile");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", CHROMIUM])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            // A page that counts as hidden draws nothing, and input waits for what is drawn.
            .args(["--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"])
            .args(["--disable-background-timer-throttling"])
            .args(["--no-first-run", "--disable-extensions", "--disable-background-networking"])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // Else it shows a page of its own.
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let to = child.stdin.take().expect("a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (send, from) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|count| count > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                message.clear();
                if send.send(value).is_err() {
                    break;
                }
            }
        });
        let session = String::new();
        let mut browser = Browser {
            child,
            to,
            from,
            session,
            viewer: None,
            calls: 0,
            deadline: Instant::now() + PATIENCE,
            events: Vec::new(),
            _profile: profile,
        };
        browser.session = browser.first_page();
        for domain in ["Runtime", "Page", "Network", "Log", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.bringToFront", json!({}));
        browser.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        browser
    }

    /// A session with the page that the browser opens by itself, which is the one in front.
    fn first_page(&mut self) -> String {
        loop {
            let targets = self.call("Target.getTargets", json!({}));
            let mut targets = targets["targetInfos"].as_array().into_iter().flatten();
            if let Some(page) = targets.find(|target| target["type"] == "page") {
                return self.attach(&page["targetId"]);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// A session with another, empty page.
    fn new_page(&mut self) -> String {
        let session = std::mem::take(&mut self.session);
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        self.session = session;
        self.attach(&target["targetId"])
    }

    fn attach(&mut self, target: &Value) -> String {
        let session = std::mem::take(&mut self.session);
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", attach);
        self.session = session;
        attached["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Calls a method; gives its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let rest = self.deadline.saturating_duration_since(Instant::now());
            let answer = self.from.recv_timeout(rest);
            let mut answer = answer.unwrap_or_else(|error| panic!("{method}: no answer: {error}"));
            if answer["id"] != self.calls {
                self.events.push(answer);
                continue;
            }
            assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
            return answer["result"].take();
        }
    }

    /// The value of an expression in the page; promises are waited for.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        let thrown = result.get("exceptionDetails");
        assert!(thrown.is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// The text of an expression in the page.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.evaluate(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value} is not a text")).to_owned()
    }

    /// Loads a page and waits until it is complete.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        while self.text("document.readyState") != "complete" {
            assert!(Instant::now() < self.deadline, "{url} does not load");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the mouse to the middle of an element; gives where that is.
    pub(crate) fn point_at(&mut self, element: &str) -> (f64, f64) {
        let place = self.evaluate(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'nearest' }}); \
             const r = e.getBoundingClientRect(); \
             return [r.x + Math.min(r.width, 200) / 2, r.y + r.height / 2]; }})()"
        ));
        let at = |n: usize| place[n].as_f64().expect("a number");
        let (x, y) = (at(0), at(1));
        let moved = json!({ "type": "mouseMoved", "x": x, "y": y });
        self.call("Input.dispatchMouseEvent", moved);
        (x, y)
    }

    /// Clicks on the middle of an element, given by an expression.
    pub(crate) fn click(&mut self, element: &str) {
        let (x, y) = self.point_at(element);
        for what in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": what, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key, by its name and its number in Windows.
    pub(crate) fn press(&mut self, key: &str, number: u32) {
        for what in ["rawKeyDown", "keyUp"] {
            let event = json!({
                "type": what, "key": key, "code": key, "windowsVirtualKeyCode": number,
            });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// What was reported under a name.
    pub(crate) fn events(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).collect()
    }

    /// A picture of the page: PNG in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let mut shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        match shot["data"].take() {
            Value::String(data) => data,
            other => panic!("no picture: {other}"),
        }
    }

    /// How many colours a picture has, and the share of pixels that have the most common one, of every
    /// fourth row and column. The browser itself reads the picture, in another page, which is then the
    /// one that is used: one that cannot be seen is slow to answer.
    pub(crate) fn colours(&mut self, picture: &str) -> (u64, f64) {
        let viewer = match self.viewer.clone() {
            Some(viewer) => viewer,
            None => self.new_page(),
        };
        self.session = viewer.clone();
        self.viewer = Some(viewer);
        let counted = self.evaluate(&format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,{picture}'; \
             await image.decode(); \
             const canvas = new OffscreenCanvas(400, 250); \
             const context = canvas.getContext('2d', {{ willReadFrequently: true }}); \
             context.imageSmoothingEnabled = false; \
             context.drawImage(image, 0, 0, 400, 250); \
             const pixels = new Uint32Array(context.getImageData(0, 0, 400, 250).data.buffer); \
             const counts = new Map(); \
             for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1); \
             return [counts.size, Math.max(...counts.values()) / pixels.length]; }})()"
        ));
        (counted[0].as_u64().expect("a number"), counted[1].as_f64().expect("a share"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its processes end when the first one does; there is nobody to tell if that fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
