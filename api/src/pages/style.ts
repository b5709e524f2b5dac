/** One small sheet for the few pages the gateway renders itself, in the colours of the interface (packages/web/src/styles). */
export const style = `:root{color-scheme:light dark;--ink:#16191d;--soft:#545c66;--line:#d9dde1;--edge:#868e97;--paper:#f6f7f8;--card:#fff;--accent:#0f766e;--on:#fff;--bad:#b42318;--badbg:#fdecea}
@media(prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a5aeb8;--line:#2d3339;--edge:#7b858f;--paper:#0f1214;--card:#16191c;--accent:#3dbdb0;--on:#04211e;--bad:#ff8f85;--badbg:#3a1613}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
header{max-width:30rem;margin:3rem auto 1rem;padding:0 1rem;font-weight:650;letter-spacing:.01em}
.mark{color:var(--accent)}
main{max-width:30rem;margin:0 auto 3rem;padding:1.5rem 1.75rem 1.75rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
h1{font-size:1.4rem;line-height:1.3;margin:0 0 .75rem}
h2{font-size:1.05rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;padding:.6rem .7rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--edge);border-radius:8px}
button,.button{display:inline-block;margin-top:1.4rem;padding:.65rem 1.2rem;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:0;border-radius:8px;cursor:pointer}
button.quiet{color:var(--accent);background:transparent;border:1px solid var(--line)}
a{color:var(--accent)}
a.button{display:block;margin:.75rem 0 1.25rem;color:var(--on);text-align:center;text-decoration:none}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.hint,.empty{color:var(--soft);font-size:.92rem}
.error{margin:1rem 0;padding:.6rem .9rem;color:var(--bad);background:var(--badbg);border-radius:8px}
.error ul{margin:.25rem 0;padding-left:1.2rem}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
`;
