//! Paragraphs, table cells and notes, one after another -> one text with its sections.

/// The text of a document in UTF-8, and where its sections begin.
#[derive(Default)]
pub struct Sections {
    pub text: Vec<u8>,
    pub starts: Vec<u32>,
    /// The number of each section. For a note, the highest bit is set.
    pub numbers: Vec<u32>,
}

const NOTE: u32 = 1 << 31;

/// Collects paragraphs. Notes come at the end, so that they do not split sentences.
#[derive(Default)]
pub(crate) struct Paragraphs {
    sections: Sections,
    count: u32,
    /// The separator before the next paragraph.
    gap: Option<u8>,
    row_has_text: bool,
    notes: Vec<String>,
}

/// Return whether Python's `strip` removes a character.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

impl Paragraphs {
    /// Add a paragraph; blank ones are neither written nor counted.
    pub fn add(&mut self, text: &str) {
        let text = text.trim_end_matches(is_space);
        if !text.is_empty() {
            self.count += 1;
            self.write(self.count, text);
            self.row_has_text = true;
        }
    }

    fn write(&mut self, number: u32, text: &str) {
        let Sections { text: written, starts, numbers } = &mut self.sections;
        written.extend(self.gap);
        starts.push(u32::try_from(written.len()).expect("a document has more than 2^32 - 1 bytes; split it"));
        numbers.push(number);
        written.extend_from_slice(text.as_bytes());
        self.gap = Some(b'\n');
    }

    pub fn end_cell(&mut self) {
        if self.row_has_text {
            self.gap = Some(b'\t');
        }
    }

    /// Begin or end a row of a table.
    pub fn row(&mut self) {
        self.gap = self.gap.map(|_| b'\n');
        self.row_has_text = false;
    }

    /// Add a footnote or endnote.
    pub fn add_note(&mut self, text: &str) {
        self.notes.push(text.trim_matches(is_space).to_string());
    }

    /// Return the text; without a paragraph and a note it is empty.
    pub fn finish(mut self) -> Sections {
        for (number, note) in (NOTE + 1..).zip(std::mem::take(&mut self.notes)) {
            if !note.is_empty() {
                self.write(number, &note);
            }
        }
        self.sections.text.extend(self.gap.map(|_| b'\n'));
        self.sections
    }
}
