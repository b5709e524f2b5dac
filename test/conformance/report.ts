import type { ScenarioScore } from './score.ts';
import { installedVersion } from './suite.ts';

/** Whether all that is due passed. */
export function printScores(title: string, scores: readonly ScenarioScore[]): boolean {
  const lines = scores.flatMap(({ name, mustPass, passed, failures, excuse }) => {
    const note = mustPass ? '' : ' (not scored)';
    const symbol = failures.length === 0 ? '✓' : '✗';
    return [
      `${symbol} ${name}: ${passed} checks passed${note}${excuse === undefined ? '' : `, ${excuse}`}`,
      ...failures.map((line) => `    ${line.split('\n', 1)[0] ?? ''}`),
    ];
  });
  const dueScores = scores.filter(({ mustPass }) => mustPass);
  const scoredScenarios = scores.filter(({ isScored }) => isScored);
  const text = [
    `${title}, suite ${installedVersion() ?? 'unknown'}`,
    ...lines.map((line) => `  ${line}`),
    `  Due: ${formatTally(dueScores)}. Scored by the suite: ${formatTally(scoredScenarios)}.`,
  ];
  process.stdout.write(`${text.join('\n')}\n\n`);
  return dueScores.every(({ failures, excuse }) => failures.length === 0 || excuse !== undefined);
}

function formatTally(scores: readonly ScenarioScore[]): string {
  return `${scores.filter(({ failures }) => failures.length === 0).length} of ${scores.length} pass`;
}
