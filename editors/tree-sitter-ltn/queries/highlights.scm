(comment) @comment
(string) @string
(number) @number
(type) @type
(builtin_type) @type.builtin
["sort" "table" "predicate" "function" "constant" "param" "axiom" "define" "for" "in" "where" "weight" "to" "depth"] @keyword
["not" "and" "or" "->" "<->" "¬" "∧" "∨" "→" "↔" "=" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" "%"] @operator
(quantified quantifier: _ @keyword.operator)
(sort name: (identifier) @type)
(predicate name: (identifier) @function)
(function name: (identifier) @function)
(define name: (identifier) @function)
(axiom name: (identifier) @label)
(table name: (identifier) @variable.builtin)
(call name: (identifier) @function.call)
(labels (identifier) @constant)
