"""Word processors and e-books: ZIP files of XML."""
