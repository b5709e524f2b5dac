import { DiagnosisView, type DiagnosisStep } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { Ending } from '../exitCodes.ts';
import { ofServer } from '../gateway/paths.ts';
import { clean, cleanLine } from '../output/clean.ts';
import type { Style } from '../output/style.ts';
import { serverArgument } from './serverArgument.ts';

export const doctor: Command = {
  path: ['doctor'],
  summary: 'says step by step why your calls to a server do or do not work',
  arguments: [serverArgument],
  options: [{ name: 'all', about: 'Also the steps that were not looked at, with the reason.' }],
  notes: [
    'The gateway looks; nothing is changed, no sign-in is begun. Exit code 0: calls work; 5: a sign-in at the server is missing;',
    '4: you may not use it; 6: there is no such server for you; 1: something else is wrong.',
  ],
  async run({ given, gateway, style, progress }) {
    const name = given.argument('SERVER');
    progress(`Looking at ${name} ...`);
    const view = await gateway().ask(ofServer(name, 'diagnose'), DiagnosisView, { method: 'POST', body: {} });
    const text = checklist(view, style, given.flag('all'), verdictOf(view, style));
    return { ending: endingOfDiagnosis(view), text, json: view };
  },
};

export function endingOfDiagnosis({ ok, steps }: DiagnosisView): Ending {
  if (ok) return 'ok';
  const code = steps.find(({ outcome }) => outcome === 'failed')?.code;
  if (code === 'MCP_AUTHORIZATION_REQUIRED') return 'signIn';
  if (code === 'MCP_FORBIDDEN') return 'forbidden';
  return code === 'MCP_SERVER_NOT_FOUND' ? 'absent' : 'failed';
}

/** In words to who asked for themselves. */
export function verdictOf({ serverName, ok }: DiagnosisView, style: Style): string {
  return ok
    ? style.good(`Calls of yours to ${clean(serverName)} work.`)
    : style.bad(`Calls of yours to ${clean(serverName)} do not work, or not for long.`);
}

/** A line for each step, what to do below those that need it, and what it comes to. */
export function checklist({ steps }: DiagnosisView, style: Style, all: boolean, verdict: string): string {
  const shown = steps.filter(({ outcome }) => all || outcome !== 'skipped');
  const width = Math.max(...shown.map(({ step }) => step.length));
  const lines = shown.flatMap(({ step, outcome, message, action, code }) => [
    `${marks[outcome](style)} ${step.padEnd(width)}  ${cleanLine(message)}${code === undefined ? '' : style.dim(` ${cleanLine(code)}`)}`,
    ...(action === undefined ? [] : [`${' '.repeat(MARK + 1 + width)}  ${style.bold(cleanLine(action))}`]),
  ]);
  return [...lines, '', verdict, ''].join('\n');
}

const MARK = 4;

/** Words and not only colours. */
const marks: Record<DiagnosisStep['outcome'], (style: Style) => string> = {
  ok: ({ good }) => good('ok  '),
  warning: ({ caution }) => caution('note'),
  failed: ({ bad }) => bad('FAIL'),
  skipped: ({ dim }) => dim('-   '),
};
