import type { Verdict } from './score.ts';
import { installedVersion } from './suite.ts';

/** Whether all that is due passed. */
export function printVerdicts(title: string, verdicts: readonly Verdict[]): boolean {
  const lines = verdicts.flatMap(({ name, isDue, passed, wrong, excuse }) => {
    const note = isDue ? '' : ' (not scored)';
    const mark = wrong.length === 0 ? '✓' : '✗';
    return [
      `${mark} ${name}: ${passed} checks passed${note}${excuse === undefined ? '' : `, ${excuse}`}`,
      ...wrong.map((line) => `    ${line.split('\n', 1)[0] ?? ''}`),
    ];
  });
  const due = verdicts.filter(({ isDue }) => isDue);
  const scored = verdicts.filter(({ isScored }) => isScored);
  const text = [
    `${title}, suite ${installedVersion() ?? 'unknown'}`,
    ...lines.map((line) => `  ${line}`),
    `  Due: ${tally(due)}. Scored by the suite: ${tally(scored)}.`,
  ];
  process.stdout.write(`${text.join('\n')}\n\n`);
  return due.every(({ wrong, excuse }) => wrong.length === 0 || excuse !== undefined);
}

function tally(verdicts: readonly Verdict[]): string {
  return `${verdicts.filter(({ wrong }) => wrong.length === 0).length} of ${verdicts.length} pass`;
}
