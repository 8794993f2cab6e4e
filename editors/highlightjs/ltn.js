// Theories in the book: highlight.js has no language `ltn` of its own. Loaded after the book's script, which has left these blocks plain.
(function () {
    if (typeof hljs === "undefined") return;
    hljs.registerLanguage("ltn", function (hljs) {
        return {
            name: "logltn theory",
            keywords: {
                keyword:
                    "sort table predicate function constant param axiom law define for in where not and or forall exists all any weight",
                type: "Int Real",
                built_in: "dist abs min max",
            },
            contains: [
                hljs.HASH_COMMENT_MODE,
                hljs.QUOTE_STRING_MODE,
                { className: "number", begin: /\b\d+(\.\d+)?(e[+-]?\d+)?\b/ },
                { className: "keyword", begin: /[¬∧∨→↔∀∃⋀⋁]|<?->/ },
                { className: "title", begin: /(?<=\b(?:axiom|law|define|predicate|function|table|sort|param|constant)\s+)[\p{L}_][\p{L}\p{N}_]*/u },
            ],
        };
    });
    document.querySelectorAll("code.language-ltn, code.language-ltn-error").forEach(function (block) {
        block.textContent = block.textContent;
        block.classList.remove("language-ltn-error");
        block.classList.add("language-ltn");
        hljs.highlightBlock(block);
    });
})();
