; For Python's grammar (queries/python/injections.scm): a text that begins with a declaration is a theory.
((string (string_content) @injection.content)
  (#match? @injection.content "^\\s*(#[^\n]*\n\\s*)*(sort|table|predicate|function|constant|param|axiom|define)\\s+\\w+")
  (#set! injection.language "ltn"))
