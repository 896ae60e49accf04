//! Bytes in any encoding, web pages and programs -> streams of symbols.

pub(crate) mod byte_search;
pub mod chunk;
pub mod code_pages;
pub(crate) mod code_spans;
pub mod digest;
pub mod fold;
pub(crate) mod html;
pub(crate) mod keyword;
pub mod language;
pub(crate) mod lexer;
pub mod markdown;
pub mod page_text;
pub mod paragraphs;
pub mod rtf;
pub(crate) mod scan;
pub mod source;
pub mod stream;
pub mod symbol;
pub mod tex;
pub(crate) mod tex_commands;
pub mod text;
pub(crate) mod token_end;
