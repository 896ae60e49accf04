//! Bytes in any encoding, web pages and programs -> streams of symbols.

pub mod chunk;
pub(crate) mod find;
pub mod fold;
pub(crate) mod html;
pub(crate) mod keyword;
pub mod language;
pub(crate) mod lexer;
pub mod stream;
pub mod symbol;
pub mod text;
