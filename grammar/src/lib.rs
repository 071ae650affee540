//! The SystemTap language: source map, lexer, preprocessor, grammar, AST and diagnostics.
