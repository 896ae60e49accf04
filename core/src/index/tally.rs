//! Adds up what documents share with a query: the owners of every hash, then the weight of every document.

/// Documents that share a page of the table.
const PAGE: usize = 1 << 10;

/// Numbers of documents -> rows. Only pages that are used take memory, since numbers may be large.
#[derive(Default)]
pub struct RowTable {
    pages: Vec<Vec<u32>>,
}

impl RowTable {
    /// Return one more than the row of a document, or 0 if it has none; the caller may set it.
    #[inline(always)]
    pub fn slot(&mut self, document: u32) -> &mut u32 {
        let (page, i) = (document as usize / PAGE, document as usize % PAGE);
        if self.pages.get(page).is_none_or(Vec::is_empty) {
            self.add_page(page);
        }
        &mut self.pages[page][i]
    }

    #[cold]
    fn add_page(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, Vec::new);
        }
        self.pages[page].resize(PAGE, 0);
    }

    /// Return the row of a document.
    #[inline]
    pub fn row(&self, document: u32) -> Option<usize> {
        let page = self.pages.get(document as usize / PAGE)?;
        page.get(document as usize % PAGE)?.checked_sub(1).map(|row| row as usize)
    }
}

/// Numbers of documents in ascending order, with a fast answer if there are none.
fn contains(sorted: &[u32], document: u32) -> bool {
    !sorted.is_empty() && sorted.binary_search(&document).is_ok()
}

/// Return how many documents have each of `hashes` hashes, without boilerplate, and whether boilerplate has it. The
/// postings are sorted by hash and document, and boilerplate is sorted.
pub fn count_owners(
    queries: &[u32],
    documents: &[u32],
    hashes: usize,
    boilerplate: &[u32],
) -> (Vec<u32>, Vec<u8>) {
    let (mut owners, mut is_boilerplate) = (vec![0; hashes], vec![0; hashes]);
    let mut last = None;
    for posting in queries.iter().copied().zip(documents.iter().copied()) {
        if last == Some(posting) {
            continue;
        }
        last = Some(posting);
        let (query, document) = posting;
        if contains(boilerplate, document) {
            is_boilerplate[query as usize] = 1;
        } else {
            owners[query as usize] += 1;
        }
    }
    (owners, is_boilerplate)
}

/// What a document shares with a query.
#[derive(Clone, Copy, Default)]
pub struct Shared {
    pub document: u32,
    pub weight: f64,
    /// Fingerprints of the query that the document has.
    pub of_query: u64,
    /// Fingerprints of the document that the query has, and those that do not count.
    pub of_document: u64,
    pub uncounted: u64,
}

/// Add up the hashes of every document, except boilerplate: its weight and how often the query has it, which is 0 if it
/// does not count. Sorted by document.
pub fn tally(
    queries: &[u32],
    documents: &[u32],
    weights: &[f64],
    repeats: &[u32],
    boilerplate: &[u32],
) -> Vec<Shared> {
    let mut rows: Vec<Shared> = Vec::new();
    let mut table = RowTable::default();
    let mut last = None;
    for (&query, &document) in queries.iter().zip(documents) {
        if contains(boilerplate, document) {
            continue;
        }
        let slot = table.slot(document);
        if *slot == 0 {
            rows.push(Shared { document, ..Shared::default() });
            *slot = rows.len() as u32; // there are no more rows than numbers of documents
        }
        let row = &mut rows[*slot as usize - 1];
        let times = repeats[query as usize];
        if times > 0 {
            row.of_document += 1;
        } else {
            row.uncounted += 1;
        }
        if last != Some((query, document)) {
            row.of_query += times as u64;
            row.weight += weights[query as usize];
            last = Some((query, document));
        }
    }
    rows.sort_unstable_by_key(|row| row.document);
    rows
}
