// `npm run lint:docs`: rejects the phrases of vocabulary.mjs in Markdown outside of code.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { unreviewedDocs } from './exceptions.mjs';
import { findPhrases } from './vocabulary.mjs';

/** The text of a page with code and quoted test titles blanked, so that line numbers stay. */
export function proseOf(markdown) {
  const blank = (code) => code.replace(/[^\n]/g, ' ');
  return markdown
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, blank)
    .replace(/`[^`\n]*`/g, blank)
    .replace(/(?<=\.test\.ts\): )"[^"\n]*"/g, blank);
}

/** One line per finding: `page:line "phrase" -> advice`. */
export function findInMarkdown(page, markdown) {
  return proseOf(markdown)
    .split('\n')
    .flatMap((line, index) =>
      findPhrases(line).map(({ phrase, advice }) => `${page}:${index + 1}  "${phrase}" -> ${advice}`),
    );
}

function main() {
  const pages = execFileSync('git', ['ls-files', '-z', '--', '*.md'], { encoding: 'utf8' })
    .split('\0')
    .filter((page) => page !== '' && !unreviewedDocs.some((prefix) => page.startsWith(prefix)));
  const found = pages.flatMap((page) => findInMarkdown(page, readFileSync(page, 'utf8')));
  for (const line of found) process.stderr.write(`${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href) main();
