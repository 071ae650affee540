//! Names at file scope.

use xlate_ir::entities::{Entity, Function, Global, Handler};
use xlate_ir::module::Module;

use crate::names::{Scope, identifier};

/// The names of a module's globals, functions and handlers in C.
pub(crate) struct ModuleNames {
    globals: Vec<String>,
    functions: Vec<String>,
    handlers: Vec<String>,
}

impl ModuleNames {
    /// Gives names to everything.
    pub(crate) fn of(module: &Module) -> ModuleNames {
        let mut scope = Scope::default();
        let globals = module
            .globals
            .iter()
            .map(|(_, data)| scope.unique(&format!("g_{}", identifier(&data.name))))
            .collect();
        let functions = module
            .functions
            .iter()
            .map(|(_, data)| scope.unique(&format!("fn_{}", identifier(&data.name))))
            .collect();
        let handlers =
            module.handlers.iter().map(|(id, _)| format!("handler_{}", id.index())).collect();
        ModuleNames { globals, functions, handlers }
    }

    /// The name of a global.
    pub(crate) fn global(&self, global: Global) -> &str {
        &self.globals[global.index()]
    }

    /// The name of a function.
    pub(crate) fn function(&self, function: Function) -> &str {
        &self.functions[function.index()]
    }

    /// The name of a handler.
    pub(crate) fn handler(&self, handler: Handler) -> &str {
        &self.handlers[handler.index()]
    }
}
